import { describe, expect, test } from 'vitest';
import type { Store } from '../../../src/context.ts';
import { silentLog } from '../../../src/log.ts';
import { createHomePublisher } from '../../../src/slack/home-publisher.ts';
import { section } from '../../../src/slack/kit/blocks.ts';
import type { HomeContent, HomeScreen } from '../../../src/slack/kit/home-view.ts';
import type { SlackRequest } from '../../../src/slack/request.ts';
import { realSystem } from '../../../src/system.ts';
import { engines } from '../../store/support.ts';
import { fakeRequest } from '../support/fake-request.ts';
import { clientsOf } from '../support/partial-slack.ts';

/** What a test can hold up, and let go. */
function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

const request: SlackRequest = {
  ...fakeRequest(),
  caller: { actor: { workspaceId: 'T1', userId: 'U1', channelId: 'D1' }, surface: 'home' },
};

/** One user's Home in Slack, one store, and as many processes as a test starts. */
function openWorld(store: Store) {
  const world = { truth: 'one server', shown: '', published: 0 };
  const slack = clientsOf({
    publishView: async (_user, view) => {
      world.shown = JSON.stringify(view.blocks);
      world.published += 1;
      return { ok: true };
    },
  });
  const start = (load: (read: HomeContent, isPatient: boolean) => Promise<HomeContent>) => {
    const screen: HomeScreen = {
      load: async ({ isPatient, page }) => {
        // It is read now, whenever it is published.
        const blocks = [section(world.truth)];
        return load({ blocks, page }, isPatient === true);
      },
    };
    const system = { ...realSystem, ...store.clock };
    const { homes } = store;
    return createHomePublisher({
      ...{ clients: slack, system, log: silentLog, homes, screen },
      requestFor: async () => request,
    });
  };
  return { world, start };
}

const quick = async (read: HomeContent) => read;

const COMING = { account: 'a', last: new Promise<never>(() => undefined) };

/** The first load waits for the gate; those after it don't. */
function heldAt(held: ReturnType<typeof gate>, isHeld: (isPatient: boolean) => boolean) {
  let isFirst = true;
  return async (read: HomeContent, isPatient: boolean) => {
    if (!isFirst || !isHeld(isPatient))
      return { ...read, coming: !isPatient && isFirst ? COMING : undefined };
    isFirst = false;
    await held.opened;
    return read;
  };
}

describe.each(engines)('a Home that two processes publish at once, on $name', ({ make }) => {
  test('shows what was read last, even if it was published first', async () => {
    const store = await make();
    const { world, start } = openWorld(store);
    await store.homes.put('T1', 'U1', { channelId: 'D1', page: 0, openedAt: 0 });
    const held = gate();
    const slow = start(heldAt(held, () => true));
    const pressed = slow.show(request, { page: 0 });
    await new Promise((resolve) => setTimeout(resolve, 20));
    world.truth = 'no server any more';
    await start(quick).show(request, { page: 0 });
    expect(world.shown).toContain('no server any more');
    held.open();
    expect(await pressed).toBe(true);
    expect(world.shown).toContain('no server any more');
  });

  test('shows what was read last, even if the hosting API answers one of them late', async () => {
    const store = await make();
    const { world, start } = openWorld(store);
    await store.homes.put('T1', 'U1', { channelId: 'D1', page: 0, openedAt: 0 });
    const held = gate();
    await start(heldAt(held, (isPatient) => isPatient)).show(request, { page: 0 });
    await new Promise((resolve) => setTimeout(resolve, 20));
    world.truth = 'no server any more';
    await start(quick).show(request, { page: 0 });
    const before = world.published;
    held.open();
    await expect.poll(() => world.published).toBe(before + 1);
    expect(world.shown).toContain('no server any more');
  });

  test('is shown even if the clock of an earlier process was ahead', async () => {
    const store = await make();
    const { world, start } = openWorld(store);
    await store.homes.put('T1', 'U1', { channelId: 'D1', page: 0, openedAt: 0 });
    await store.homes.markShown('T1', 'U1', '7ZZZZZZZZZZZZZZZZZZZZZZZZZ');
    expect(await start(quick).show(request, { page: 0 })).toBe(true);
    expect(world.shown).toContain('one server');
  });
});
