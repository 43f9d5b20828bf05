import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { ConfirmationId, ServerId } from '../../src/core/ids.ts';
import { Secret } from '../../src/core/secret.ts';
import { createVault, parseKeyring } from '../../src/db/vault.ts';
import { createSpill } from '../../src/purchases/spill.ts';
import { TEAM } from '../../src/sandbox/slack/workspace.ts';
import { createServer, passwordOf } from '../support/acts.ts';
import { makeKey } from '../support/environment.ts';
import { ENGINES } from '../support/postgres.ts';
import { runProgram } from '../support/programs.ts';
import { ENCRYPTION_KEY, startTeam, type Team } from '../support/team.ts';

const [K1, K2] = [ENCRYPTION_KEY, `k2:${makeKey('next')}`];
const BOTH = `${K2},${K1}`;

function settingsOf(team: Team, ENCRYPTION_KEYS = BOTH) {
  return { ...team.environment, ENCRYPTION_KEYS };
}

const rotate = (team: Team, ...args: readonly string[]) =>
  runProgram(['key', 'rotate', ...args], settingsOf(team));

/** What each key encrypts, by its ID. */
async function readUse(team: Team): Promise<Record<string, Record<string, number>>> {
  const { output } = await rotate(team, '--json', '--dry-run');
  const { keys }: { keys: { keyId: string; encrypts: Record<string, number> }[] } = JSON.parse(output);
  return Object.fromEntries(keys.map(({ keyId, encrypts }) => [keyId, encrypts]));
}

/** Starts the app again with other encryption keys. */
async function restartWith(team: Team, keys: string): Promise<void> {
  await team.restart(async () => {
    (team.environment as Record<string, string>).ENCRYPTION_KEYS = keys;
  });
}

async function orderServer(team: Team, label: string): Promise<string> {
  await createServer(team.owner, label);
  return passwordOf(team, label);
}

async function readsPassword(team: Team, label: string, password: string): Promise<void> {
  team.owner.overlooksOldMessages();
  await team.owner.types(`/vps password ${label}`);
  await team.owner.sees(password);
}

/** Stores this many texts under the key that the app has. */
async function storeMany(team: Team, count: number): Promise<void> {
  const { replyUrls } = team.app.ports;
  const until = Date.now() + 3_600_000;
  for (let nth = 0; nth < count; nth++)
    await replyUrls.store(`many ${nth}`, TEAM.id, new Secret(`https://reply.test/${nth}`), until);
}

describe.each(ENGINES)('vps-slack key rotate on %s', (engine) => {
  test('encrypts everything under the first key while orders are made, so that the old key can go', async () => {
    await using team = await startTeam({ engine });
    const passwords = new Map([['web-1', await orderServer(team, 'web-1')]]);
    await restartWith(team, BOTH);
    await storeMany(team, 50);
    const rotations = Promise.all([rotate(team), rotate(team)]);
    for (const label of ['web-2', 'web-3']) passwords.set(label, await orderServer(team, label));
    for (const { code, words } of await rotations) expect([code, words]).toEqual([0, '']);
    const done = await rotate(team);
    expect(done.output).toMatch(/^k2: encrypts .*root passwords: 3.*It is the first key\.$/m);
    expect(done.output).toMatch(
      /^k1: encrypts nothing; signs \d+ entr(y|ies) of the audit log\. Keep it last/m,
    );
    expect(await readUse(team)).toMatchObject({ k1: {}, k2: { 'API keys': 1, 'root passwords': 3 } });

    await restartWith(team, K2);
    for (const [label, password] of passwords) await readsPassword(team, label, password);
    // The audit needs it, and so does what judges the team.
    await restartWith(team, BOTH);
  });

  test('can be killed halfway, and finishes when it is run again', async () => {
    await using team = await startTeam({ engine });
    const password = await orderServer(team, 'web-1');
    await storeMany(team, 600);
    await restartWith(team, BOTH);
    const killed = spawn(process.execPath, ['dist/cli/main.js', 'key', 'rotate'], {
      env: { PATH: process.env.PATH, ...settingsOf(team) },
    });
    await once(killed.stderr.setEncoding('utf8'), 'data');
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    const { k1, k2 } = await readUse(team);
    const [left, moved] = [k1?.['reply addresses'] ?? 0, k2?.['reply addresses'] ?? 0];
    expect(left).toBeGreaterThan(0);
    expect(moved).toBeGreaterThan(0);
    expect(left + moved).toBeGreaterThanOrEqual(600);

    const again = await rotate(team);
    expect(again).toMatchObject({
      code: 0,
      words: expect.stringMatching(/^100 encrypted under the first key…$/m),
    });
    expect((await readUse(team)).k1).toEqual({});
    // One was killed, one has encrypted the rest, and one had nothing to do.
    await rotate(team);
    const rotations = await team.app.ports.audit.list({
      workspaceId: TEAM.id,
      actions: ['key_rotate'],
      limit: 9,
    });
    expect(rotations.map(({ actorId, outcome }) => [actorId, outcome])).toEqual([
      ['command line', 'done'],
      ['command line', 'started'],
      ['command line', 'started'],
    ]);
    await restartWith(team, K2);
    await readsPassword(team, 'web-1', password);
    const { replyUrls } = team.app.ports;
    expect((await replyUrls.use('many 599', Date.now()))?.reveal()).toBe('https://reply.test/599');
    await restartWith(team, BOTH);
  });
});

test('vps-slack key rotate reports what can’t be decrypted, keeps it, and exits with 1', async () => {
  await using team = await startTeam();
  const password = await orderServer(team, 'web-1');
  await restartWith(team, BOTH);
  await restartWith(team, K2);
  expect(await (await fetch(`${team.appUrl}/readyz`)).text()).toContain('ENCRYPTION_KEYS lacks the key "k1"');
  const lost = await runProgram(['key', 'rotate'], settingsOf(team, K2));
  expect(lost.code).toBe(1);
  expect(lost.output).toMatch(
    /^k1 \(missing\): encrypts .*\. Put it back into ENCRYPTION_KEYS, after the others\.$/m,
  );
  expect(lost.output).toMatch(
    /^Can’t be decrypted, and was left as it is: root passwords, row \w+: its key is missing/m,
  );
  await restartWith(team, BOTH);
  await readsPassword(team, 'web-1', password);
});

test('vps-slack key rotate says to keep each key, or to put it back, while paid answers wait in SPILL_DIR', async () => {
  await using team = await startTeam({ engine: 'sqlite' });
  await restartWith(team, BOTH);
  const spill = createSpill(
    `${team.environment.DATABASE_URL?.slice('sqlite:'.length)}.spill`,
    createVault(parseKeyring(K1)),
  );
  const answered = 'an-order' as ConfirmationId;
  await spill.write(answered, { serverId: 1 as ServerId });
  const withoutK1 = () => runProgram(['key', 'rotate'], settingsOf(team, K2));
  const waiting = await rotate(team);
  expect(waiting.output).toMatch(
    /^k1: encrypts nothing\. Keep it until the app has stored the answers in SPILL_DIR\.$/m,
  );
  expect(waiting.output).toMatch(
    /^Answers to paid orders in SPILL_DIR: 1\. Keep every key until the app has stored them;/m,
  );
  expect((await withoutK1()).output).toMatch(
    /^k1 \(missing\): encrypts nothing\. Put it back into ENCRYPTION_KEYS, after the others\.$/m,
  );

  await spill.remove(answered);
  expect((await rotate(team)).output).toMatch(/^k1: encrypts nothing\. You can remove it\.$/m);
  expect((await withoutK1()).output).toMatch(/^k1 \(missing\): encrypts nothing\. It isn’t needed\.$/m);
});
