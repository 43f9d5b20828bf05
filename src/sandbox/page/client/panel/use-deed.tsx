import { useState } from 'preact/hooks';
import type { PanelDeed, PanelDone } from '../../../panel/panel-api.ts';

/** Does something to the hosting account. The change itself comes by the stream of events. */
async function performBeside(deed: PanelDeed): Promise<PanelDone> {
  try {
    const answer = await fetch('/panel/do', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(deed),
    });
    const isJson = answer.headers.get('content-type')?.startsWith('application/json');
    if (isJson) return (await answer.json()) as PanelDone;
    return { ok: false, error: 'sandbox_failed', words: `The sandbox failed: ${await answer.text()}` };
  } catch {
    return { ok: false, error: 'unreachable', words: 'The sandbox does not answer. Is it still running?' };
  }
}

/** Something that can be done here, one at a time; a refusal stays until the next try. */
export function useDeed() {
  const [isBusy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState('');
  const run = async (deed: PanelDeed): Promise<PanelDone | undefined> => {
    if (isBusy) return undefined;
    setBusy(true);
    const done = await performBeside(deed);
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
