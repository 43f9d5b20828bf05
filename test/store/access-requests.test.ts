import { beforeEach, describe, expect, test } from 'vitest';
import type { AccessRequests } from '../../src/app/access-ports.ts';
import type { Store } from '../../src/app/ports.ts';
import { engines, newGrant, stillSystem, T0 } from './support.ts';

type Asked = Parameters<AccessRequests['ask']>[0];
const HOUR_MS = 3_600_000;

function newRequest(more: Partial<Asked> = {}): Asked {
  return {
    id: stillSystem.newId(),
    workspaceId: 'T1',
    askerId: 'U1',
    channelId: 'C1',
    role: 'operator',
    pattern: '',
    reason: 'to réboot things',
    askedAt: T0,
    ...more,
  };
}

describe.each(engines)('requests for a role on $name', ({ make }) => {
  let store: Store;
  let requests: AccessRequests;
  beforeEach(async () => {
    store = await make();
    requests = store.accessRequests;
  });

  const ask = (more: Partial<Asked> = {}) => {
    const request = newRequest(more);
    return requests.ask(request, request.askedAt - HOUR_MS);
  };

  describe('asking', () => {
    test('is kept as it was asked, with the cards that ask for it', async () => {
      const asked = newRequest();
      const { isNew, request, replaced } = await requests.ask(asked, 0);
      expect([isNew, replaced]).toEqual([true, []]);
      expect(request).toStrictEqual({ ...asked, state: 'open', cards: [] });
      const cards = [
        { channelId: 'D1', ts: '1.1' },
        { channelId: 'D2', ts: '1.2' },
      ];
      await requests.keepCards(asked.id, cards);
      expect(await requests.find(asked.id)).toStrictEqual({ ...request, cards });
      expect(await requests.find('nothing')).toBeUndefined();
    });

    test('again within the hour does not nag', async () => {
      const first = await ask();
      const again = await ask({ askedAt: T0 + HOUR_MS });
      expect(again).toEqual({ isNew: false, request: first.request, replaced: [] });
      expect(await requests.listOpen('T1')).toHaveLength(1);
    });

    test('again within the hour does not nag when it was denied either', async () => {
      const { request } = await ask();
      await requests.decide(request.id, { by: 'U9', at: T0 + 1 });
      const again = await ask({ askedAt: T0 + HOUR_MS });
      expect(again).toMatchObject({ isNew: false, request: { id: request.id, state: 'denied' } });
      expect((await ask({ askedAt: T0 + HOUR_MS + 1 })).isNew).toBe(true);
    });

    test('after an approved role has ended is new, however soon', async () => {
      const { request } = await ask();
      await requests.decide(request.id, { by: 'U9', at: T0 + 1, grant: newGrant({ until: T0 + 2 }) });
      expect((await ask({ askedAt: T0 + 3 })).isNew).toBe(true);
    });

    test('after the hour replaces the one that nobody has answered', async () => {
      const { request: old } = await ask();
      await requests.keepCards(old.id, [{ channelId: 'D1', ts: '1.1' }]);
      const { isNew, request, replaced } = await ask({ askedAt: T0 + HOUR_MS + 1, pattern: '' });
      expect(isNew).toBe(true);
      expect(replaced).toEqual([{ ...old, state: 'replaced', cards: [{ channelId: 'D1', ts: '1.1' }] }]);
      expect(await requests.listOpen('T1')).toEqual([request]);
      expect(await requests.decide(old.id, { by: 'U9', at: T0, grant: newGrant() })).toBeUndefined();
      expect(await store.grants.list('T1')).toEqual([]);
    });

    test('for another role, other servers, by somebody else or elsewhere is no repetition', async () => {
      const others = [
        {},
        { role: 'manager' as const },
        { pattern: 'web-*' },
        { askerId: 'U2' },
        { workspaceId: 'T2' },
      ];
      for (const more of others) expect((await ask(more)).isNew).toBe(true);
      expect((await ask({ pattern: 'WEB-*' })).isNew).toBe(false);
      expect((await requests.listOpen('T1')).map(({ askedAt }) => askedAt)).toHaveLength(4);
    });

    test('twice at the same moment makes one card, as does the same press that comes again', async () => {
      const both = await Promise.all([ask(), ask()]);
      expect(both.map(({ isNew }) => isNew).sort()).toEqual([false, true]);
      expect(both[0]?.request.id).toBe(both[1]?.request.id);
      const id = both[0]?.request.id ?? '';
      await requests.decide(id, { by: 'U9', at: T0, grant: newGrant() });
      expect(await ask({ id })).toMatchObject({ isNew: false, request: { id, state: 'approved' } });
      await expect(ask({ id, workspaceId: 'T2' })).rejects.toThrow(/another workspace/);
    });
  });

  describe('answering', () => {
    test('gives the role with the answer, for as long as was said', async () => {
      const { request } = await ask();
      const grant = newGrant({ role: 'operator', until: T0 + 100 });
      const decided = await requests.decide(request.id, { by: 'U9', at: T0 + 1, grant });
      const expected = { ...request, state: 'approved', decidedBy: 'U9', decidedAt: T0 + 1, until: T0 + 100 };
      expect(decided).toStrictEqual(expected);
      expect(await requests.find(request.id)).toStrictEqual(expected);
      expect(await store.grants.list('T1')).toMatchObject([grant]);
      expect(await requests.listOpen('T1')).toEqual([]);
    });

    test('for good has no end, and denied gives nothing', async () => {
      const [good, denied] = [(await ask()).request, (await ask({ askerId: 'U2' })).request];
      expect(await requests.decide(good.id, { by: 'U9', at: T0, grant: newGrant() })).not.toHaveProperty(
        'until',
      );
      expect(await requests.decide(denied.id, { by: 'U9', at: T0 })).toMatchObject({ state: 'denied' });
      expect(await store.grants.list('T1')).toMatchObject([{ subjectId: 'U1' }]);
    });

    test('by two owners at once counts once, and gives one role or none', async () => {
      for (let round = 0; round < 20; round++) {
        const askerId = `U-${round}`;
        const { request } = await ask({ askerId });
        const answers = await Promise.all([
          requests.decide(request.id, { by: 'U8', at: T0 }),
          requests.decide(request.id, { by: 'U9', at: T0, grant: newGrant({ subjectId: askerId }) }),
          requests.decide(request.id, {
            by: 'U7',
            at: T0,
            grant: newGrant({ subjectId: askerId, until: T0 + 9 }),
          }),
        ]);
        const winners = answers.filter((answer) => answer !== undefined);
        expect(winners).toHaveLength(1);
        const given = await store.grants.listFor('T1', { userId: askerId }, T0);
        expect(given).toHaveLength(winners[0]?.state === 'approved' ? 1 : 0);
      }
    });

    test('gives no role in another workspace', async () => {
      const { request } = await ask();
      const grant = newGrant({ workspaceId: 'T2' });
      await expect(requests.decide(request.id, { by: 'U9', at: T0, grant })).rejects.toThrow(/in another/);
      expect(await requests.find(request.id)).toEqual(request);
      expect(await store.grants.list('T2')).toEqual([]);
    });

    test('what is not there is not answered', async () => {
      expect(await requests.decide('nothing', { by: 'U9', at: T0, grant: newGrant() })).toBeUndefined();
      expect(await store.grants.list('T1')).toEqual([]);
    });
  });

  test('those that wait are listed oldest first, each workspace its own', async () => {
    const young = await ask({ askedAt: T0 + 2 });
    const old = await ask({ askedAt: T0 + 1, askerId: 'U2' });
    await ask({ workspaceId: 'T2' });
    const denied = await ask({ askerId: 'U3' });
    await requests.decide(denied.request.id, { by: 'U9', at: T0 });
    expect(await requests.listOpen('T1')).toEqual([old.request, young.request]);
  });
});
