import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLog } from '../../../src/log.ts';
import type { Delivery } from '../../../src/sandbox/slack/deliver.ts';
import type { User } from '../../../src/sandbox/slack/workspace.ts';
import {
  commandSample,
  EVENT_SAMPLES,
  globalShortcutSample,
  messagePressSample,
  messageShortcutSample,
  messageSuggestionSample,
  ORGANIZATION,
  OURS,
  SENDERS,
  type Sender,
  submissionSample,
  THEIRS,
  viewPressSample,
  viewSuggestionSample,
} from '../../support/payloads/samples.ts';
import { changesSeen } from '../../support/raw-user.ts';
import { grantRole, startTeam, type Team } from '../../support/team.ts';

type Json = Readonly<Record<string, unknown>>;

const INTERACTIONS: Readonly<Record<string, (sender: Sender) => Json>> = {
  'a press in a message': messagePressSample,
  'a press in a modal': viewPressSample,
  'a submission': submissionSample,
  'a choice in a message': messageSuggestionSample,
  'a choice in a modal': viewSuggestionSample,
  'a shortcut': globalShortcutSample,
  'a shortcut on a message': messageShortcutSample,
};

let team: Team;
const defects: string[] = [];
beforeAll(async () => {
  team = await startTeam({
    exempt: { slackRulesKept: 'the payloads say what is not so' },
    log: { ...silentLog, error: (words) => defects.push(words) },
  });
  team.slack.admin.joinGrid({ id: ORGANIZATION });
  for (const sender of Object.values<Sender>(SENDERS)) {
    await join(sender);
    for (const act of ACTS)
      team.hosting.seedServers(team.account, 1, `${act}-${sender.userId.toLowerCase()}`);
  }
});
afterAll(() => team[Symbol.asyncDispose]());

/** Each may manage servers as far as the stored grants go, so that only where they come from makes the difference. */
async function join({ userId: id, userTeamId, enterpriseId }: Sender): Promise<void> {
  const isExternal = userTeamId !== OURS && enterpriseId === undefined;
  const user: Pick<User, 'id' | 'name'> & Partial<User> = {
    id,
    name: id.toLowerCase(),
    teamId: userTeamId ?? OURS,
    isExternal,
  };
  team.slack.admin.addUser(user, isExternal ? ['#acme-shared'] : ['#ops', '#acme-shared']);
  await grantRole(team, id, 'manager');
}

/** With ways back and a trigger that work, as this user has them in a channel. */
function usable(payload: Json, { userId }: Sender): Json {
  const user = team.slack.admin.changeUser(userId, {});
  const { response_url, trigger_id } = team.slack.commandFields(user, '#acme-shared', '');
  return {
    ...payload,
    ...('response_url' in payload && { response_url }),
    ...('trigger_id' in payload && { trigger_id }),
  };
}

function textFields(fields: Json): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));
}

const interact = (payload: Json, sender: Sender) =>
  team.slack.deliverSigned({ payload: usable(payload, sender) });

const command = (text: string, sender: Sender) =>
  team.slack.deliverSigned({ fields: textFields({ ...usable(commandSample(sender), sender), text }) });

const sendEvent = (event: Json): Promise<Delivery> => team.slack.deliverBody('json', JSON.stringify(event));

/** What this user has done and tried in one workspace, newest first. */
async function auditOf({ userId }: Sender, workspaceId: string) {
  const entries = await team.app.ports.audit.list({ workspaceId, actorId: userId, limit: 50 });
  return entries.map(({ action, outcome, code, label }) => ({ action, outcome, code, label }));
}

function screenOf({ userId }: Sender) {
  const user = team.slack.admin.changeUser(userId, {});
  return team.slack.as(user).in('#acme-shared').overlooksOldMessages();
}

/** A server of its own for each act, known before the first list is read: a list is shared for two seconds. */
const ACTS = ['message', 'modal', 'form', 'menu', 'typed'] as const;

function serverFor(act: (typeof ACTS)[number], { userId }: Sender) {
  const label = `${act}-${userId.toLowerCase()}-1`;
  const found = team.hosting.listServers(team.account).find((server) => server.label === label);
  return { id: found?.id ?? 0, label };
}

function pressOn(serverId: number, sample: Json): Json {
  const actions = [
    {
      action_id: 'reboot',
      block_id: 'b',
      type: 'button',
      value: JSON.stringify({ id: serverId }),
      action_ts: `${serverId}.1`,
    },
  ];
  return { ...sample, actions };
}

/** What each sender's presses come to: done, or refused in these words under this code. */
const REFUSED: Readonly<Partial<Record<keyof typeof SENDERS, readonly [string, string, string]>>> = {
  'a user of another organization, in a shared channel': [OURS, 'other_organization', 'another organi'],
  'a member of an Enterprise Grid that installed the app for all its workspaces': [
    ORGANIZATION,
    'other_workspace',
    'isn’t set up for this workspace',
  ],
};

describe.each(Object.entries<Sender>(SENDERS))('%s', (name, sender) => {
  const refused = Object.entries(REFUSED).find(([each]) => each === name)?.[1];

  it.each(Object.entries(INTERACTIONS))('has %s acknowledged in time', async (_kind, sample) => {
    const { status, tookMs } = await interact(sample(sender), sender);
    expect(status).toBe(200);
    expect(tookMs).toBeLessThan(3000);
  });

  it.each(
    Object.entries(EVENT_SAMPLES),
  )('has the event %s acknowledged, and nothing done', async (_type, sample) => {
    const before = changesSeen(team).length;
    expect((await sendEvent(sample(sender))).status).toBe(200);
    expect(changesSeen(team)).toHaveLength(before);
  });

  it.each([
    ['message', messagePressSample],
    ['modal', viewPressSample],
  ] as const)(`${refused ? 'is refused with an explanation' : 'is served'} when they press a button in a %s`, async (act, sample) => {
    const server = serverFor(act, sender);
    const screen = screenOf(sender);
    const [workspaceId, code, words] = refused ?? [OURS, undefined, 'rebooted'];
    const before = (await auditOf(sender, workspaceId)).length;
    await interact(pressOn(server.id, sample(sender)), sender);
    await expect
      .poll(async () => (await auditOf(sender, workspaceId)).slice(0, -before || undefined)[0])
      .toMatchObject(refused ? { outcome: 'denied', code } : { action: 'reboot', outcome: 'done' });
    if (sample === messagePressSample) await screen.sees(words);
    expect(changesSeen(team).filter(({ path }) => path.includes(String(server.id)))).toHaveLength(
      refused ? 0 : 1,
    );
  });

  it(`${refused ? 'is told why they are refused' : 'is served'} when they submit a form`, async () => {
    const { label, id } = serverFor('form', sender);
    const sample = submissionSample(sender);
    const view = {
      ...Object(sample.view),
      callback_id: 'delete',
      private_metadata: JSON.stringify({ o: { formId: `F${id}` }, m: { serverId: id, label, word: label } }),
      state: { values: { label: { 'delete.label': { type: 'plain_text_input', value: label } } } },
    };
    const { response } = await interact({ ...sample, view }, sender);
    const [workspaceId, code, words] = refused ?? [OURS, undefined, 'update'];
    expect(response).toContain(words);
    await expect
      .poll(async () => (await auditOf(sender, workspaceId))[0])
      .toMatchObject(refused ? { outcome: 'denied', code } : { action: 'delete', outcome: 'done', label });
    const isListed = team.hosting.listServers(team.account).some((each) => each.id === id);
    expect(isListed).toBe(refused !== undefined);
  });

  it(`is offered ${refused ? 'no' : 'the'} servers in a menu`, async () => {
    const server = serverFor('menu', sender);
    const sample = { ...messageSuggestionSample(sender), value: server.label };
    await expect
      .poll(async () => (await interact(sample, sender)).response.includes(server.label))
      .toBe(refused === undefined);
  });

  it('is told that the app doesn’t have a shortcut that they used', async () => {
    const screen = screenOf(sender);
    await interact(messageShortcutSample(sender), sender);
    await screen.sees('doesn’t have that shortcut');
  });

  it.each([
    ['app_mention', '<@U0BOT00001> show'],
    ['message.im', 'show'],
  ] as const)(`${refused ? 'is refused' : 'is served'} when they write to the app: %s`, async (type, words) => {
    const server = serverFor('form', sender);
    const sample = EVENT_SAMPLES[type](sender);
    const ts = `${Math.floor(Date.now() / 1000)}.00${Math.floor(Math.random() * 9000 + 1000)}`;
    const event = {
      ...Object(sample.event),
      channel: 'C0SHARED01',
      text: `${words} ${server.id}`,
      ts,
      thread_ts: undefined,
    };
    await sendEvent({ ...sample, event_id: `Ev${ts}${sender.userId}`, event });
    const isElsewhere = refused?.[1] === 'other_organization';
    if (isElsewhere)
      await expect
        .poll(async () => (await auditOf(sender, OURS))[0])
        .toMatchObject({ action: 'show', outcome: 'denied', code: 'other_organization' });
    else
      await expect
        .poll(() => team.slack.traffic().some(({ request }) => request.includes(`${server.label}`)))
        .toBe(true);
  });

  it('acts in no other workspace with any of these requests', async () => {
    for (const elsewhere of [THEIRS, ORGANIZATION]) {
      const entries = await auditOf(sender, elsewhere);
      expect(entries.filter(({ outcome }) => outcome !== 'denied')).toEqual([]);
    }
  });
});

describe('a command, whose payload names the workspace where it was typed', () => {
  const members = Object.entries<Sender>(SENDERS).filter(([name]) => !name.startsWith('a user of another'));
  it.each(members)('serves %s', async (_name, sender) => {
    const server = serverFor('typed', sender);
    await command(`reboot ${server.id}`, sender);
    await expect
      .poll(async () => (await auditOf(sender, OURS))[0])
      .toMatchObject({ action: 'reboot', outcome: 'done', label: server.label });
  });

  it('is refused with an explanation when it was typed in another workspace', async () => {
    const sender: Sender = SENDERS['a member of a plain workspace'];
    const fields = textFields({ ...usable(commandSample(sender), sender), team_id: THEIRS });
    const { response } = await team.slack.deliverSigned({ fields });
    expect(response).toContain('isn’t set up for this workspace');
  });
});

it('no request of the samples causes a defect', () => {
  expect(defects).toEqual([]);
});
