import { useState } from 'preact/hooks';
import type { PanelAction, PanelResult } from '../../../panel/panel-api.ts';

/** Does something to the hosting account. The change itself comes by the stream of events. */
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

/** Something that can be done here, one at a time; a refusal stays until the next try. */
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

/** Why it was refused, beside what was pressed. */
export function Refused({ words }: { readonly words: string }) {
  return (
    <div role="alert" class={words ? 'refused' : ''}>
      {words}
    </div>
  );
}
