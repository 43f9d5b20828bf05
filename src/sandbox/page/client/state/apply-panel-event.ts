import type { PanelEvent, PanelServer, PanelState } from '../../../panel/panel-api.ts';

/** The panel shows no more; a sandbox may run for days. */
const MAX_MONEY = 100;
const MAX_REQUESTS = 300;

/** The panel's state after an event. The same event twice makes no difference: events are replayed after a resync. */
export function applyPanelEvent(state: PanelState, event: PanelEvent): PanelState {
  switch (event.type) {
    case 'account':
      return { ...state, account: event.account };
    case 'servers':
      return { ...state, servers: changeServers(state.servers, event.changed, event.gone) };
    case 'money':
      return { ...state, money: put(state.money, event.entry).slice(-MAX_MONEY) };
    case 'request':
      return { ...state, requests: put(state.requests, event.request).slice(-MAX_REQUESTS) };
    case 'tour':
      return { ...state, tour: event.steps };
  }
}

/** Replaces the entry of that id, or puts it in by the order of ids. */
function put<Entry extends { readonly id: number }>(entries: readonly Entry[], entry: Entry) {
  const at = entries.findIndex(({ id }) => id === entry.id);
  if (at >= 0) return entries.with(at, entry);
  return entries.toSpliced(entries.findLastIndex(({ id }) => id < entry.id) + 1, 0, entry);
}

function changeServers(
  servers: readonly PanelServer[],
  changed: readonly PanelServer[],
  gone: readonly number[],
): readonly PanelServer[] {
  return changed.reduce(put, servers).filter(({ id }) => !gone.includes(id));
}
