import type { Delivery } from '../../../src/sandbox/slack/deliver.ts';
import { isJson } from '../../../src/sandbox/slack/json.ts';
import type { Json } from '../../../src/sandbox/slack/page-api.ts';
import { OTHER_TEAM } from '../../../src/sandbox/slack/workspace.ts';
import type { Dice } from './dice.ts';
import { type HostileTeam, UNPRIVILEGED } from './hostile-team.ts';
import { randomCommand } from './hostile-users.ts';

/** Another workspace of the same Slack, which this app serves not. */
const SECOND_WORKSPACE = 'T0SECOND01';

const ATTACKS = {
  'replayed requests': replay,
  'requests that are signed again': signAgain,
  'double presses': double,
  'forms and buttons of other users': useOthers,
  'users of other workspaces': comeFromElsewhere,
  'damaged requests': damage,
} as const;

/** One request that no client sends, well signed. */
export async function attack(team: HostileTeam): Promise<void> {
  const [name, send] = team.dice.pick(Object.entries(ATTACKS)) ?? [];
  const before = team.dice.pick(team.slack.deliveries().slice(-150).filter(isGenuine));
  if (!name || !send || !before) return;
  team.note(name);
  await send(team, before);
}

/** Requests that were made up here are not altered again: they would only grow. */
function isGenuine({ what, body }: Delivery): boolean {
  return !/made up|again/.test(what) && body.length < 100_000;
}

async function replay({ slack, dice }: HostileTeam, before: Delivery): Promise<void> {
  const signature = before.headers['x-slack-signature'] ?? '';
  if (dice.chance(0.5)) await slack.redeliver(before);
  else
    await slack.redeliver({
      ...before,
      headers: { ...before.headers, 'x-slack-signature': `${signature}=1` },
    });
}

async function signAgain({ slack, dice }: HostileTeam, { body }: Delivery): Promise<void> {
  const timestamp = String(Math.floor(Date.now() / 1000) - dice.number(200));
  await slack.deliverRaw(body, { timestamp, signature: slack.sign(body, timestamp) });
}

async function double({ slack }: HostileTeam, before: Delivery): Promise<void> {
  await Promise.all([slack.redeliver(before), slack.redeliver(before), slack.redeliver(before)]);
}

async function useOthers({ slack, dice }: HostileTeam, before: Delivery): Promise<void> {
  const other = dice.pick(UNPRIVILEGED);
  if (other) await slack.deliverAltered(before, (content) => withUser(content, other.id, other.teamId));
}

async function comeFromElsewhere(team: HostileTeam, before: Delivery): Promise<void> {
  const workspace = team.dice.pick([SECOND_WORKSPACE, OTHER_TEAM.id]) ?? SECOND_WORKSPACE;
  if (team.dice.chance(0.3)) {
    const fields = team.slack.commandFields('nora', '#ops', randomCommand(team));
    await team.slack.deliverSigned({ fields: { ...fields, team_id: workspace, user_id: 'U0ELSEWHERE' } });
    return;
  }
  await team.slack.deliverAltered(before, (content) => {
    const altered = withUser(content, 'U0ELSEWHERE', workspace);
    if (!isJson(altered.team)) return { ...altered, ...('team_id' in altered && { team_id: workspace }) };
    const view = isJson(altered.view) && {
      view: { ...altered.view, team_id: workspace, app_installed_team_id: workspace },
    };
    return { ...altered, team: { ...altered.team, id: workspace }, ...view };
  });
}

function withUser(content: Json, id: string, teamId: string): Json {
  if (typeof content.user_id === 'string') return { ...content, user_id: id };
  return isJson(content.user) ? { ...content, user: { ...content.user, id, team_id: teamId } } : content;
}

/** By a user who may do nothing, so that whatever is changed must not change anything. */
async function damage({ slack, dice }: HostileTeam, before: Delivery): Promise<void> {
  const other = dice.pick(UNPRIVILEGED);
  await slack.deliverAltered(before, (content) => {
    let damaged = other ? withUser(content, other.id, other.teamId) : content;
    for (let times = 1 + dice.number(3); times > 0; times--) damaged = damageOne(damaged, dice);
    return damaged;
  });
}

const GARBAGE: readonly unknown[] = [
  null,
  0,
  -1,
  1e308,
  true,
  '',
  [],
  {},
  [null],
  'x'.repeat(50_000),
  '\u0000\u001b[31m\u202e',
  '\ud800',
  '{"__proto__":{"isAdmin":true}}',
  { ['__proto__']: { a: 1 }, constructor: 1, toString: null },
  { id: { id: {} } },
];

/** Replaces or removes one value somewhere inside; who acts stays the same. */
function damageOne(content: Json, dice: Dice): Json {
  const name = dice.pick(Object.keys(content).filter((each) => !['user', 'user_id'].includes(each)));
  if (name === undefined) return content;
  const value = content[name];
  if (isJson(value) && dice.chance(0.8)) return { ...content, [name]: damageOne(value, dice) };
  if (Array.isArray(value) && isJson(value[0]) && dice.chance(0.8))
    return { ...content, [name]: [damageOne(value[0], dice), ...value.slice(1)] };
  const { [name]: _, ...rest } = content;
  return dice.chance(0.2) ? rest : { ...rest, [name]: dice.pick(GARBAGE) };
}
