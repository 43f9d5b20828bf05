import { describe, expect, it } from 'vitest';
import { engines, T0 } from '../support.ts';

describe.each(engines)('who has opened Home ($name)', ({ make }) => {
  it('is known by workspace and user, as they opened it last', async () => {
    const { homes } = await make();
    expect(await homes.find('T1', 'U1')).toBeUndefined();
    await homes.put('T1', 'U1', { channelId: 'D1', page: 0, openedAt: T0 });
    await homes.put('T2', 'U1', { channelId: 'D2', page: 1, openedAt: T0 });
    const last = { channelId: 'D3', page: 3, openedAt: T0 + 1 };
    await homes.put('T1', 'U1', last);
    expect(await homes.find('T1', 'U1')).toEqual(last);
    expect(await homes.find('T1', 'U2')).toBeUndefined();
    expect(await homes.find('T2', 'U1')).toMatchObject({ channelId: 'D2' });
  });

  it('shows what was read last, whatever is published after it', async () => {
    const { homes } = await make();
    const [first, second] = ['01K5AAAAAAAAAAAAAAAAAAAAAA', '01K5BBBBBBBBBBBBBBBBBBBBBB'];
    expect(await homes.markShown('T1', 'U1', first)).toBe(true);
    const opened = { channelId: 'D1', page: 0, openedAt: T0 };
    await homes.put('T1', 'U1', opened);
    expect(await homes.markShown('T1', 'U1', second)).toBe(true);
    expect(await homes.markShown('T1', 'U1', first)).toBe(false);
    await homes.put('T1', 'U1', opened);
    expect(await homes.markShown('T1', 'U1', first)).toBe(false);
    expect(await homes.markShown('T1', 'U1', second)).toBe(true);
    expect(await homes.markShown('T2', 'U1', first)).toBe(true);
    expect(await homes.find('T1', 'U1')).toEqual(opened);
  });

  it('is listed by workspace, whoever opened it last first', async () => {
    const { homes } = await make();
    for (const [at, user] of ['U1', 'U2', 'U3'].entries())
      await homes.put('T1', user, { channelId: 'D1', page: 0, openedAt: T0 + at });
    await homes.put('T2', 'U9', { channelId: 'D1', page: 0, openedAt: T0 });
    expect(await homes.listUsers('T1', 2)).toEqual(['U3', 'U2']);
  });
});
