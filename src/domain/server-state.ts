import { isDeleted, POWER_ACTIONS, type PowerAction, type Server } from './server.ts';

/** The color of a state. The hosting API's word for the state is always shown with it. */
export type StateColor = 'green' | 'yellow' | 'red' | 'gray';

const RED = ['error', 'failed', 'failure', 'crashed', 'suspended', 'expired', 'blocked'];

/** Only `creating`, `running` and `deleted` are documented (docs/hosting-api.md 3): the color of others is a courtesy. */
export function colorOf({ state }: Pick<Server, 'state'>): StateColor {
  const word = wordOf({ state });
  if (word === 'running') return 'green';
  if (/^[a-z]+ing$/.test(word)) return 'yellow';
  return RED.some((each) => word.startsWith(each)) ? 'red' : 'gray';
}

/** The power actions that can make sense in a state. In a state that isn't documented, the hosting API decides. */
export function powerActionsIn(server: Pick<Server, 'state'>): readonly PowerAction[] {
  if (isDeleted(server) || wordOf(server) === 'creating') return [];
  return wordOf(server) === 'running' ? ['stop', 'reboot'] : POWER_ACTIONS;
}

const EXPECTED: Readonly<Record<PowerAction, readonly string[]>> = {
  start: ['running'],
  reboot: ['running'],
  stop: ['stopped', 'off'],
};

/** Whether a server in this state is where the action leads, so that nothing more has to be waited for. */
export function isWhereLeads(action: PowerAction, server: Pick<Server, 'state'>): boolean {
  return EXPECTED[action].includes(wordOf(server));
}

function wordOf({ state }: Pick<Server, 'state'>): string {
  return state.trim().toLowerCase();
}
