import { useState } from 'preact/hooks';
import type { PanelAction, PanelResult } from '../../../panel/panel-api.ts';

/** Performs an action on the hosting account. The change itself arrives by the event stream. */
async function performPanelAction(action: PanelAction): Promise<PanelResult> {
  try {
    const answer = await fetch('/panel/do', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(action),
    });
    const isJson = answer.headers.get('content-type')?.startsWith('application/json');
    if (isJson) return (await answer.json()) as PanelResult;
    return { ok: false, error: 'sandbox_failed', words: `The sandbox failed: ${await answer.text()}` };
  } catch {
    return { ok: false, error: 'unreachable', words: 'The sandbox does not answer. Is it still running?' };
  }
}

/** Runs one action at a time; a refusal stays until the next attempt. */
export function usePanelAction() {
  const [isBusy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState('');
  const run = async (action: PanelAction): Promise<PanelResult | undefined> => {
    if (isBusy) return undefined;
    setBusy(true);
    const done = await performPanelAction(action);
    setBusy(false);
    setRefusal(done.ok ? '' : done.words);
    return done;
  };
  return { isBusy, refusal, run };
}

/** Why an action was refused, next to its button. */
export function Refused({ words }: { readonly words: string }) {
  return (
    <div role="alert" class={words ? 'refused' : ''}>
      {words}
    </div>
  );
}
