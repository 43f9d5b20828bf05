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
});
