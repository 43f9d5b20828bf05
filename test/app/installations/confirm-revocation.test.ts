import { describe, expect, test } from 'vitest';
import { HOUR_MS } from '../../../src/domain/time.ts';
import { engines } from '../../store/support.ts';
import { createStop, setUpUninstalls } from './support/uninstalls.ts';

const MAY_BE_GONE = /^the app may have been uninstalled, but nothing proves it: .+npm run store -- erase/;

describe.each(engines)('an event about an uninstall, with a token that has expired, on $name', ({ make }) => {
  test('erases everything where Slack refuses a refresh token that was never sent before', async () => {
    const { start, slack, isKept, warnings } = await setUpUninstalls(make);
    slack.uninstall();
    await start().hear();
    expect(await isKept()).toBe(false);
    expect(slack.sent).toEqual(['refresh of token 1']);
    expect(warnings).toEqual(['uninstalled: what was stored is erased']);
  });

  test('erases everything if Slack says that the expired token was revoked', async () => {
    const { start, slack, isKept } = await setUpUninstalls(make);
    slack.uninstall();
    slack.saysOfExpired = 'revoked';
    await start().hear();
    expect(await isKept()).toBe(false);
    expect(slack.sent).toEqual([]);
  });

  test('erases nothing while the token can be renewed', async () => {
    const { start, store, find, isKept } = await setUpUninstalls(make);
    await start().hear();
    expect(await isKept()).toBe(true);
    expect((await find()).tokens.bot.reveal()).toBe('token 2');
    expect(await store.installationStore.listRevocations()).toEqual([]);
  });

  test('erases everything even if earlier refreshes never reached Slack', async () => {
    const { start, slack, isKept } = await setUpUninstalls(make);
    const process = start();
    slack.fate = 'unsent';
    await process.hear();
    await process.sweep();
    expect(await isKept()).toBe(true);
    slack.uninstall();
    slack.fate = 'answered';
    await process.sweep();
    expect(await isKept()).toBe(false);
  });

  test('erases everything if an earlier renewal was refused and no answer was ever lost', async () => {
    const { start, slack, find, isKept } = await setUpUninstalls(make);
    slack.uninstall();
    await start().rotation.renewed(await find());
    expect(await find()).toMatchObject({ isRefreshRefused: true });
    await start().hear();
    expect(await isKept()).toBe(false);
    expect(slack.sent).toHaveLength(1);
  });
});

describe.each(engines)('a refresh token that may have been used up proves nothing, on $name:', ({ make }) => {
  test('Slack’s answer to the check of an event was lost', async () => {
    const { start, slack, isKept, store, find } = await setUpUninstalls(make);
    slack.fate = 'lost';
    await start().hear();
    slack.fate = 'answered';
    await start().sweep();
    expect(slack.sent).toEqual(['refresh of token 1', 'refresh of token 1']);
    expect(await isKept()).toBe(true);
    expect(await find()).toMatchObject({ isRefreshRefused: true });
    expect(await store.installationStore.listRevocations()).toEqual([]);
  });

  test('Slack’s answer to a renewal was lost', async () => {
    const { start, slack, find, isKept } = await setUpUninstalls(make);
    slack.fate = 'lost';
    await start().rotation.renewed(await find());
    slack.fate = 'answered';
    await start().hear();
    expect(await isKept()).toBe(true);
  });

  test('Slack’s answer to a renewal was lost, and the next try was refused', async () => {
    const { start, slack, find, isKept } = await setUpUninstalls(make);
    slack.fate = 'lost';
    await start().rotation.renewed(await find());
    slack.fate = 'answered';
    await start().rotation.renewed(await find());
    expect(await find()).toMatchObject({ isRefreshRefused: true });
    await start().hear();
    expect(await isKept()).toBe(true);
    expect(slack.sent).toHaveLength(2);
  });

  test('a lost answer is not forgotten when later refreshes never reach Slack', async () => {
    const { start, slack, isKept } = await setUpUninstalls(make);
    slack.fate = 'lost';
    await start().hear();
    slack.fate = 'unsent';
    await start().sweep();
    slack.fate = 'answered';
    await start().sweep();
    expect(await isKept()).toBe(true);
  });

  test.each(['event', 'renewal'])('the process was killed after it had sent it (%s)', async (why) => {
    const { start, slack, find, isKept } = await setUpUninstalls(make);
    const killed = start();
    const stop = createStop();
    slack.holdUp('after', stop.wait);
    const dying = why === 'event' ? killed.hear() : killed.rotation.renewed(await find());
    await stop.arrived;
    await killed.loseLocks();
    await start().hear();
    expect(slack.sent).toHaveLength(2);
    expect(await isKept()).toBe(true);
    stop.letGo();
    await dying;
  });

  test('another process lost the answer while this one was frozen before it sent the token', async () => {
    const { start, slack, isKept } = await setUpUninstalls(make);
    const [slow, other] = [start(), start()];
    const stop = createStop();
    slack.holdUp('before', stop.wait);
    const waking = slow.hear();
    await stop.arrived;
    await slow.loseLocks();
    slack.fate = 'lost';
    await other.hear();
    slack.fate = 'answered';
    stop.letGo();
    await waking;
    await other.sweep();
    expect(slack.sent).toHaveLength(2);
    expect(await isKept()).toBe(true);
  });
});

describe.each(engines)('an uninstall that can’t be proved, on $name,', ({ make }) => {
  /** Its refresh token was used up by a renewal whose answer was lost. */
  async function setUpLost() {
    const world = await setUpUninstalls(make);
    world.slack.fate = 'lost';
    await world.start().rotation.renewed(await world.find());
    world.slack.fate = 'answered';
    return world;
  }

  test('is logged once, however often Slack sends its event, with what an operator can do', async () => {
    const { start, warnings, isKept } = await setUpLost();
    await start().hear();
    await start().hear();
    await start().sweep();
    expect(warnings).toEqual([expect.stringMatching(MAY_BE_GONE)]);
    expect(await isKept()).toBe(true);
  });

  test('makes the app answer requests from there with the link to install it', async () => {
    const { start } = await setUpLost();
    await start().hear();
    const { workspaces } = start();
    expect(await workspaces.admit({ workspaceId: 'T1' })).toBe('refused');
    expect(await workspaces.needsInstall?.('T1')).toBe(true);
  });

  test('is settled when the app is installed again, and has no effect after that', async () => {
    const { start, slack, install, system, store, isKept } = await setUpLost();
    await start().hear();
    expect(await isKept()).toBe(true);
    await install(slack.installAgain());
    expect(await start().workspaces.admit({ workspaceId: 'T1' })).toBe('served');
    expect(await store.installationStore.listRevocations()).toEqual([]);
    system.move(13 * HOUR_MS);
    slack.uninstall();
    await start().hear();
    expect(await isKept()).toBe(false);
  });

  test('erases everything when Slack says later that the token was revoked', async () => {
    const { start, slack, isKept } = await setUpLost();
    await start().hear();
    expect(await isKept()).toBe(true);
    slack.uninstall();
    slack.saysOfExpired = 'revoked';
    await start().hear();
    expect(await isKept()).toBe(false);
  });
});

describe.each(engines)('an operator, on $name,', ({ make }) => {
  test('can erase what is stored after an uninstall that can’t be proved', async () => {
    const { start, slack, find, isKept } = await setUpUninstalls(make);
    slack.fate = 'lost';
    await start().rotation.renewed(await find());
    slack.fate = 'answered';
    expect(await start().eraseByHand()).toBe('in_use');
    await start().hear();
    expect(await isKept()).toBe(true);
    expect(await start().eraseByHand()).toBe('erased');
    expect(await isKept()).toBe(false);
    expect(await start().eraseByHand()).toBe('not_installed');
  });

  test('can’t erase anything where the app works, even if its token can’t be renewed any more', async () => {
    const { start, slack, find, isKept } = await setUpUninstalls(make, HOUR_MS);
    expect(await start().eraseByHand()).toBe('in_use');
    slack.fate = 'refused';
    const { rotation } = start();
    await rotation.renewed(await find());
    await rotation.drain();
    expect(await find()).toMatchObject({ isRefreshRefused: true });
    expect(await start().eraseByHand()).toBe('in_use');
    expect(await isKept()).toBe(true);
  });
});

describe.each(engines)('the sweep of uninstalls that are to be checked, on $name,', ({ make }) => {
  const MANY = 60;

  test('checks each of them, even if Slack never answers about most', async () => {
    const { start, slack, install, store, system, isKept } = await setUpUninstalls(make);
    for (let at = 0; at < MANY; at++) {
      await install(slack.issue(), `TMUTE${at}`);
      slack.muteLast();
      await store.installationStore.noteRevocation(`TMUTE${at}`, system.now());
    }
    slack.uninstall();
    await store.installationStore.noteRevocation('T1', system.now());
    for (let sweeps = 0; sweeps < 5; sweeps++) await start().sweep();
    expect(await isKept()).toBe(false);
  });

  test('continues after one that can’t be checked', async () => {
    const { start, slack, install, store, system, isKept } = await setUpUninstalls(make);
    await install(slack.issue(), 'TBROKEN');
    await store.installationStore.noteRevocation('TBROKEN', system.now() - 1);
    await store.installationStore.noteRevocation('T1', system.now());
    slack.uninstall();
    const process = start({ unreadable: 'TBROKEN' });
    await process.sweep();
    expect(await isKept()).toBe(false);
  });
});

describe.each(engines)('two processes on $name', ({ make }) => {
  test('that check the same event send the refresh token once', async () => {
    const { start, slack, isKept, find } = await setUpUninstalls(make);
    const processes = [start(), start()];
    await Promise.all(processes.flatMap((each) => [each.hear(), each.sweep()]));
    expect(slack.sent).toEqual(['refresh of token 1']);
    expect(await isKept()).toBe(true);
    expect((await find()).tokens.bot.reveal()).toBe('token 2');
  });

  test('of which one renews a token while the other checks an event erase nothing', async () => {
    const { start, slack, isKept, find } = await setUpUninstalls(make);
    const seen = await find();
    await Promise.all([start().rotation.renewed(seen), start().hear()]);
    expect(slack.sent).toEqual(['refresh of token 1']);
    expect(await isKept()).toBe(true);
  });
});
