import { useState } from 'preact/hooks';
import type { PanelAction, PanelResult, PanelState } from '../../../panel/panel-api.ts';
import { postAction } from '../actions.ts';
import { changeScreen, countDone, getScreen } from '../state.ts';

let reads = 0;

/** Reads the panel's state; one that is read later wins. If the tour is complete when the page opens, the account is shown. */
export async function readPanel(): Promise<void> {
  reads += 1;
  const read = reads;
  const panel = await fetchPanelState();
  if (!panel || read !== reads) return;
  const isFirst = getScreen().panel === null;
  const isTourDone = countDone(panel.tour) === panel.tour.length;
  changeScreen(isFirst && isTourDone ? { panel, panelTab: 'account' } : { panel });
}

async function fetchPanelState(): Promise<PanelState | undefined> {
  try {
    const answer = await fetch('/panel/state');
    return answer.ok ? ((await answer.json()) as PanelState) : undefined;
  } catch {
    return undefined;
  }
}

/** Runs one action on the hosting account at a time; a refusal stays until the next attempt. The change arrives by an event. */
export function usePanelAction() {
  const [isBusy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState('');
  const run = async (action: PanelAction): Promise<PanelResult | undefined> => {
    if (isBusy) return undefined;
    setBusy(true);
    const done = await postAction<PanelResult>('/panel/do', action);
    setBusy(false);
    setRefusal(done.ok ? '' : done.words);
    return done;
  };
  return { isBusy, refusal, run };
}

export function Refused({ words }: { readonly words: string }) {
  return (
    <div role="alert" class={words ? 'refused' : ''}>
      {words}
    </div>
  );
}
