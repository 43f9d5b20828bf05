import { silentLog } from '../../../src/log.ts';
import type { StoredMessage } from '../../../src/sandbox/slack/messages.ts';
import { USERS, type User } from '../../../src/sandbox/slack/workspace.ts';
import { movableSystem } from '../../support/movable-system.ts';
import { startTeam, type Team } from '../../support/team.ts';
import { type Dice, makeDice } from './dice.ts';

/** A team under attack, and what the attack needs to know of it. */
export interface HostileTeam extends Team {
  readonly dice: Dice;
  readonly system: ReturnType<typeof movableSystem>;
  /** Every message of the app in each of its versions, oldest first. */
  readonly messages: readonly StoredMessage[];
  /** Everything that was logged, and how much of it as an error. */
  readonly logged: readonly string[];
  readonly errors: readonly string[];
  /** How often each kind of act was tried. */
  readonly tried: Map<string, number>;
  note(kind: string): void;
}

export const LABELS = ['web-1', 'web-2', 'db-1', 'Web-1', '<!channel>', 'x'.repeat(100)] as const;

/** Users who may do something, and those who may do nothing, even with an approval. */
export const PRIVILEGED: readonly User[] = [USERS.olga, USERS.mara, USERS.otto, USERS.vera];
export const UNPRIVILEGED: readonly User[] = [USERS.nora, USERS.gus, USERS.sam, USERS.finn];

/** Starts it: a few servers, and a service that is soon given up on. */
export async function startHostile(seed: number): Promise<HostileTeam> {
  const system = movableSystem();
  const errors: string[] = [];
  const logged: string[] = [];
  const write = (to: readonly string[][]) => (words: string, fields?: object) => {
    for (const list of to) list.push(`${words} ${JSON.stringify(fields ?? {})}`);
  };
  const log = { ...silentLog, info: write([logged]), warn: write([logged]), error: write([logged, errors]) };
  const team = await startTeam({
    system,
    log,
    balanceMinor: 100_000_000,
    config: { HOSTING_TIMEOUT_MS: 700 },
  });
  // Bolt gives up on unacknowledged requests after 3,001 ms.
  team.slack.app.ackTimeoutMs = 4000;
  team.hosting.seedServers(team.account, 4, 'web');
  const messages: StoredMessage[] = [];
  team.slack.onEvent((event) => {
    if (event.type === 'message' || event.type === 'message_changed') messages.push(event.message);
  });
  const tried = new Map<string, number>();
  const note = (kind: string) => void tried.set(kind, (tried.get(kind) ?? 0) + 1);
  return Object.assign(team, { dice: makeDice(seed), system, messages, logged, errors, tried, note });
}
