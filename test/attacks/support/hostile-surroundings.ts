import { Secret } from '../../../src/core/secret.ts';
import { FAULT_KINDS } from '../../../src/sandbox/hosting/faults.ts';
import { OPERATIONS } from '../../../src/sandbox/hosting/protocol.ts';
import { ROLE_HOLDERS, TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import type { HostileTeam } from './hostile-team.ts';

const REFUSALS = [
  'rate_limited',
  'not_enough_balance',
  'limit',
  'not_created',
  'wrong_state',
  'not_found',
] as const;
const SLACK_METHODS = ['chat.postMessage', 'chat.postEphemeral', 'views.open', 'views.update', 'users.info'];

const CHANGES = {
  'faults of the hosting service': breakHosting,
  'faults of Slack': breakSlack,
  'removed API keys': removeKey,
  'revoked roles': revokeRole,
  'clock steps': stepClock,
} as const;

/** One misfortune; each of them ends by itself or with a later one. */
export async function disturb(team: HostileTeam): Promise<void> {
  const [name, change] = team.dice.pick(Object.entries(CHANGES)) ?? [];
  if (!name || !change) return;
  team.note(name);
  await change(team);
}

function breakHosting({ hosting, dice }: HostileTeam): void {
  if (dice.chance(0.3)) hosting.faults.clear();
  const on = dice.pick(['paid', 'paid', 'create', 'any', ...OPERATIONS] as const) ?? 'any';
  const kind = dice.pick(FAULT_KINDS) ?? 'hang';
  const isChecking = kind.startsWith('checking');
  const isRefusal = kind === 'error' || kind.startsWith('error_');
  hosting.faults.add({
    on: isChecking || isRefusal ? 'create' : on,
    kind,
    times: 1 + dice.number(2),
    ...(isChecking && { afterMs: dice.number(2000) }),
    ...(isRefusal && { code: dice.pick(REFUSALS) ?? 'limit' }),
    ...(kind.startsWith('slow') && { delayMs: dice.number(1000) }),
  });
}

function breakSlack({ slack, dice }: HostileTeam): void {
  const { faults } = slack;
  const method = dice.pick(SLACK_METHODS) ?? 'views.update';
  const switches = [
    () => faults.clear(),
    () => faults.clear(),
    () => faults.rateLimit('*', { times: 1 + dice.number(5), retryAfterSeconds: 1 }),
    () => faults.loseEphemerals(),
    () => faults.failMethod('views.update', 'not_found', 3),
    () => faults.failMethod(method, 'internal_error', 2),
    () => faults.breakReplyUrls(dice.pick([404, 500, 200]) ?? 500, 3),
    () => faults.refuseBlock(dice.pick(['data_table', 'rich_text']) ?? 'data_table'),
    () => faults.applyAcksLate(dice.number(800)),
  ];
  dice.pick(switches)?.();
}

/** It comes back soon: the same one, or another one of the same account. */
async function removeKey({ app, apiKey, hosting, account, dice }: HostileTeam): Promise<void> {
  const { apiKeys } = app.ports;
  if ((await apiKeys.find(TEAM.id)) && dice.chance(0.3)) {
    await apiKeys.remove(TEAM.id);
    return;
  }
  const key = dice.chance(0.7) ? apiKey : hosting.createKey(account, { beforeTopUp: true });
  await apiKeys.put(TEAM.id, new Secret(key), USERS.olga.id, Date.now());
}

async function revokeRole({ app, dice }: HostileTeam): Promise<void> {
  const holder = dice.pick(ROLE_HOLDERS);
  if (!holder) return;
  const subject = { subjectKind: 'user', subjectId: holder.id } as const;
  const { grants } = app.ports;
  const has = (await grants.list(TEAM.id)).some(({ subjectId }) => subjectId === holder.id);
  if (has && dice.chance(0.3)) await grants.removeAll(TEAM.id, subject);
  else
    await grants.put({
      ...{ workspaceId: TEAM.id, ...subject, role: holder.role },
      ...{ pattern: '', grantedBy: USERS.olga.id, grantedAt: Date.now() },
    });
}

/** Slack's own clock stays: the app's may differ by less than the five minutes for which a signature is good. */
function stepClock({ system, dice }: HostileTeam): void {
  const aheadMs = system.now() - Date.now();
  const wantedMs = (dice.number(480) - 240) * 1000;
  system.stepWall(wantedMs - aheadMs);
}

/** Everything works again, and everybody has what they had. */
export async function calmDown(team: HostileTeam): Promise<void> {
  const { app, apiKey, hosting, slack, system } = team;
  hosting.faults.clear();
  slack.faults.clear();
  hosting.clock.advance(10_000);
  system.stepWall(Date.now() - system.now());
  await app.ports.apiKeys.put(TEAM.id, new Secret(apiKey), USERS.olga.id, Date.now());
}
