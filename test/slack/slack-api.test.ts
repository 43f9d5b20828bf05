import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/core/secret.ts';
import { silentLog } from '../../src/log.ts';
import { createGroups, createUsers } from '../../src/slack/directory.ts';
import { section } from '../../src/slack/kit/blocks.ts';
import { createSetupProblems } from '../../src/slack/refusals.ts';
import {
  createSlackClients,
  createSlackClock,
  createSlackConnections,
  type FindToken,
  type SlackApi,
} from '../../src/slack/slack-api.ts';
import { createSingleWorkspace } from '../../src/slack/tokens.ts';
import { realSystem } from '../../src/system.ts';
import { handClock, partialSlack, turn } from './support/fakes.ts';

/** Our client over a Slack that can't be reached. */
function openUnreached(tokens: Awaited<ReturnType<FindToken>>) {
  const apiUrl = 'http://127.0.0.1:1/';
  const connections = createSlackConnections({ apiUrl, log: silentLog, system: realSystem });
  return connections.open(async () => tokens);
}

const TOKENS: Readonly<Record<string, string>> = { T1: 'xoxb-one', T2: 'xoxb-two' };

/** Connections to a Slack that knows nothing but tokens: what it says names the token that it was asked with. */
function connectionsBy(answer: (token: string) => Partial<SlackApi>) {
  return (findToken: FindToken): SlackApi => {
    const tell = async () => answer((await findToken())?.token.reveal() ?? 'none');
    return partialSlack({
      whoAmI: async () => (await tell()).whoAmI?.() ?? { ok: false, error: 'not_installed' },
      findUser: async (id) => (await tell()).findUser?.(id) ?? { ok: false, error: 'not_installed' },
      listGroups: async () => (await tell()).listGroups?.() ?? { ok: false, error: 'not_installed' },
    });
  };
}

function twoWorkspaces() {
  const open = connectionsBy((token) => ({
    findUser: async () => ({ ok: true, user: { team_id: token, is_admin: token === 'xoxb-one' } }),
    listGroups: async () => ({ ok: true, groups: [{ id: 'S1', handle: token, users: [`U-${token}`] }] }),
  }));
  const tokens = {
    find: async (workspaceId: string) => {
      const token = TOKENS[workspaceId];
      return token === undefined ? undefined : { token: new Secret(token) };
    },
    isServed: async () => true,
  };
  return createSlackClients(open, tokens);
}

it('two workspaces with different tokens never see each other’s answers, neither fresh nor cached', async () => {
  const clients = twoWorkspaces();
  const users = createUsers(clients, realSystem);
  const groups = createGroups(clients, realSystem);
  for (let round = 0; round < 2; round++) {
    expect(await users.find('T1', 'U1')).toMatchObject({ isAdmin: true, teamIds: ['xoxb-one'] });
    expect(await users.find('T2', 'U1')).toMatchObject({ isAdmin: false, teamIds: ['xoxb-two'] });
    expect(await groups.listMembers('T1', 'S1')).toEqual(['U-xoxb-one']);
    expect(await groups.listMembers('T2', 'S1')).toEqual(['U-xoxb-two']);
  }
});

it('a message of an app that a whole organization installed carries its workspace, with its plainer blocks, too', async () => {
  const api = openUnreached({ token: new Secret('xoxb-x'), teamId: 'T1' });
  const message = { text: 'x', blocks: [section('new')], plainBlocks: [section('old')] };
  const { blocks, plainBlocks = [] } = await api.stamp(message);
  expect([...blocks, ...plainBlocks].map(({ block_id }) => block_id)).toEqual(['w:T1:0', 'w:T1:0']);
});

describe('the one workspace of a bot token', () => {
  function single(whoAmI: SlackApi['whoAmI']) {
    const open = connectionsBy(() => ({ whoAmI }));
    const stop = new AbortController();
    const clock = handClock();
    const workspace = createSingleWorkspace({
      open,
      botToken: new Secret('xoxb-one'),
      storeWorkspace: async () => undefined,
      setupProblems: createSetupProblems(clock.system),
      system: clock.system,
      log: silentLog,
      signal: stop.signal,
    });
    return { workspace, clock, stop };
  }
  const T1 = { ok: true, workspaceId: 'T1', workspaceName: 'One', isOrgInstall: false } as const;

  it('is a fault from the first call with a revoked token, or within minutes, until the token works again', async () => {
    let answer: Awaited<ReturnType<SlackApi['whoAmI']>> = T1;
    const { workspace, clock, stop } = single(async () => answer);
    const passMinutes = async () => {
      await clock.pass(3 * 60_000);
      await turn();
    };
    await workspace.connect();
    answer = { ok: false, error: 'token_revoked' };
    workspace.watch('T1', { method: 'chat.postMessage', error: 'token_revoked' });
    await turn();
    expect(workspace.faults().join()).toContain('token_revoked');
    answer = T1;
    await passMinutes();
    expect(workspace.faults()).toEqual([]);
    answer = { ok: false, error: 'account_inactive' };
    await passMinutes();
    expect(workspace.faults().join()).toContain('account_inactive');
    stop.abort();
  });

  it('is unknown until Slack has said which one it is; then no other is served or gets the token', async () => {
    let isUp = false;
    const { workspace, clock, stop } = single(async () => (isUp ? T1 : { ok: false, error: 'fetch_failed' }));
    await workspace.connect();
    expect(await workspace.isServed('T1')).toBeUndefined();
    expect(await workspace.find('T1')).toBeUndefined();
    expect(workspace.faults()).toHaveLength(1);
    isUp = true;
    await clock.pass(5000);
    await turn();
    expect([await workspace.isServed('T1'), await workspace.isServed('T2')]).toEqual([true, false]);
    expect((await workspace.find('T1'))?.token.reveal()).toBe('xoxb-one');
    expect(await workspace.find('T2')).toBeUndefined();
    stop.abort();
  });
});

const MINUTE_MS = 60_000;

/** In whole seconds, as Slack tells its time. */
const SLACKS = 1_800_000_000_000;
const dateOf = (at: number) => new Date(at).toUTCString();

/** Our clock, off by that much, and Slack's as we know it. */
function startOff(byMs: number) {
  const ours = { now: SLACKS + byMs };
  return { ours, clock: createSlackClock({ ...realSystem, now: () => ours.now }) };
}

describe('Slack’s clock', () => {
  it('is not set back by a delayed request, or by a process that froze', () => {
    const { ours, clock } = startOff(0);
    clock.noteAnswer(dateOf(SLACKS), ours.now);
    ours.now = SLACKS + 4 * MINUTE_MS;
    clock.noteRequest(SLACKS);
    clock.noteAnswer(dateOf(SLACKS), SLACKS);
    expect(clock.now()).toBe(SLACKS + 4 * MINUTE_MS);
  });
});
