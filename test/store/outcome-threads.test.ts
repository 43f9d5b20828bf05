import { describe, expect, test } from 'vitest';
import { engines, T0 } from './support.ts';

describe.each(engines)('the threads of orders on $name', ({ make }) => {
  test('are found by the ID of the confirmation until they expire, as they were stored last', async () => {
    const { outcomeThreads } = await make();
    await outcomeThreads.store('F1', 'T1', { ts: '9.1', isOpen: false }, T0 + 10);
    await outcomeThreads.store('F1', 'T1', { ts: '9.2', isOpen: true }, T0 + 20);
    await outcomeThreads.store('F2', 'T1', { ts: '9.3', isOpen: false }, T0 + 10);
    await outcomeThreads.removeExpired(T0 + 10);
    expect(await outcomeThreads.find('F1')).toEqual({ ts: '9.2', isOpen: true });
    expect(await outcomeThreads.find('F2')).toBeUndefined();
    expect(await outcomeThreads.find('F3')).toBeUndefined();
  });
});
