import { afterEach, describe, expect, it } from 'vitest';
import type { RefreshOutcome, TokenService } from '../../../src/app/installations/ports.ts';
import { createTokenRotation } from '../../../src/app/installations/rotate-tokens.ts';
import { createLocks } from '../../../src/app/locks.ts';
import type { Store } from '../../../src/app/ports.ts';
import type { BotTokens, Installation } from '../../../src/domain/installation.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { HOUR_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { silentLog } from '../../../src/log.ts';
import { vault } from '../../store/fixtures.ts';
import { openStore } from '../../support/migrated.ts';
import { movableSystem } from '../../support/movable-system.ts';

const stores: Store[] = [];
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
});

/** A Slack that takes each refresh token once, and a process for each call of `start`. */
async function setUp(leftMs: number) {
  const system = movableSystem();
  const store = await openStore({ databaseUrl: 'sqlite::memory:', vault, system });
  stores.push(store);
  const tokensOf = (name: string, lifeMs: number): BotTokens => ({
    bot: new Secret(name),
    rotation: { expiresAt: system.now() + lifeMs, refreshToken: new Secret(`refresh of ${name}`) },
  });
  const used: string[] = [];
  const slack = { answer: undefined as RefreshOutcome | undefined, isAnswerLost: false };
  const refresh = async (refreshToken: Secret<string>): Promise<RefreshOutcome> => {
    const given = refreshToken.reveal();
    await system.sleep(5);
    if (slack.answer) return slack.answer;
    if (used.includes(given)) return { kind: 'refused', error: 'invalid_refresh_token' };
    used.push(given);
    if (slack.isAnswerLost) return { kind: 'unknown', error: 'TimeoutError' };
    return { kind: 'renewed', tokens: tokensOf(`token ${used.length + 1}`, 12 * HOUR_MS) };
  };
  const tokenService = { refresh } as TokenService;
  const start = () =>
    createTokenRotation({
      installationStore: store.installationStore,
      tokenService,
      locks: createLocks({ leases: store.lockLeases, system, log: silentLog }),
      system,
      log: silentLog,
    });
  const installation = await store.installationStore.install(
    {
      id: 'T1',
      isOrg: false,
      name: 'Acme',
      installedBy: 'U1',
      installedAt: system.now(),
      scopes: [],
      tokens: tokensOf('token 1', leftMs),
    },
    () => [],
  );
  const find = async (): Promise<Installation> => (await store.installationStore.find('T1')) ?? installation;
  return { system, store, start, installation, find, used, slack };
}

const botOf = ({ tokens }: Installation) => tokens.bot.reveal();

describe('a bot token that expires', () => {
  it('is left alone while it has hours to live, and for good without token rotation', async () => {
    const { start, installation, used } = await setUp(3 * HOUR_MS);
    const rotation = start();
    expect(await rotation.renewed(installation)).toBe(installation);
    const lasting = { ...installation, tokens: { bot: new Secret('lasting') } };
    expect(await rotation.renewed(lasting)).toBe(lasting);
    await rotation.drain();
    expect(used).toEqual([]);
  });

  it('is renewed ahead of time, while no request waits for it', async () => {
    const { start, installation, find } = await setUp(HOUR_MS);
    const rotation = start();
    expect(botOf(await rotation.renewed(installation))).toBe('token 1');
    await rotation.drain();
    expect(botOf(await find())).toBe('token 2');
  });

  it('is waited for once it has expired', async () => {
    const { start, installation } = await setUp(-HOUR_MS);
    expect(botOf(await start().renewed(installation))).toBe('token 2');
  });

  it('is renewed once, whatever number of requests and processes need it', async () => {
    const { start, installation, used } = await setUp(-HOUR_MS);
    const processes = [start(), start(), start()];
    const asked = processes.flatMap((each) => [each.renewed(installation), each.renewed(installation)]);
    expect((await Promise.all(asked)).map(botOf)).toEqual(Array(6).fill('token 2'));
    expect(used).toEqual(['refresh of token 1']);
  });

  it('of an installation that was repeated in between is the new one’s', async () => {
    const { store, start, installation, used } = await setUp(-HOUR_MS);
    const again = { ...installation, tokens: { bot: new Secret('of the new install') } };
    await store.installationStore.install(again, () => []);
    expect(botOf(await start().renewed(installation))).toBe('of the new install');
    expect(used).toEqual([]);
  });
});

describe('a renewal whose answer is lost', () => {
  it('is tried again a minute later, not at every call', async () => {
    const { system, start, installation, find, slack } = await setUp(-HOUR_MS);
    const rotation = start();
    slack.answer = { kind: 'unknown', error: 'bad_client_secret' };
    expect(botOf(await rotation.renewed(installation))).toBe('token 1');
    slack.answer = undefined;
    expect(botOf(await rotation.renewed(installation))).toBe('token 1');
    system.move(MINUTE_MS);
    expect(botOf(await rotation.renewed(await find()))).toBe('token 2');
  });

  it('has used the refresh token up: that is written down, and Slack is not asked again', async () => {
    const { system, start, installation, find, slack, used } = await setUp(-HOUR_MS);
    const rotation = start();
    slack.isAnswerLost = true;
    await rotation.renewed(installation);
    expect((await find()).isRefreshRefused).toBe(false);
    slack.isAnswerLost = false;
    system.move(MINUTE_MS);
    await rotation.renewed(await find());
    expect(await find()).toMatchObject({ isRefreshRefused: true });
    system.move(MINUTE_MS);
    expect(botOf(await start().renewed(await find()))).toBe('token 1');
    expect(used).toEqual(['refresh of token 1']);
  });

  it('is made good by another install', async () => {
    const { store, start, installation, find, slack } = await setUp(-HOUR_MS);
    slack.answer = { kind: 'refused', error: 'invalid_refresh_token' };
    await start().renewed(installation);
    expect((await find()).isRefreshRefused).toBe(true);
    await store.installationStore.install(installation, () => []);
    expect((await find()).isRefreshRefused).toBe(false);
  });
});
