import { describe, expect, test } from 'vitest';
import { engines, T0 } from '../support.ts';

const NOTE = { serverId: 1001, label: 'web-1', text: 'billing', notedBy: 'U1', notedAt: T0 };

describe.each(engines)('notes on servers, on $name', ({ make }) => {
  test('are kept for their workspace, one for each server, the last one', async () => {
    const { serverNotes } = await make();
    await serverNotes.put('note', 'T1', NOTE);
    await serverNotes.put('note', 'T1', { ...NOTE, serverId: 1002, label: 'web-2', text: '', contact: 'U2' });
    await serverNotes.put('note', 'T1', {
      ...NOTE,
      text: 'shop',
      contact: 'U3',
      notedBy: 'U4',
      notedAt: T0 + 1,
    });
    await serverNotes.put('note', 'T2', { ...NOTE, text: 'of others' });
    const last = { ...NOTE, text: 'shop', contact: 'U3', notedBy: 'U4', notedAt: T0 + 1 };
    expect(await serverNotes.find('note', 'T1', 1001)).toEqual(last);
    expect(await serverNotes.list('note', 'T1')).toHaveLength(2);
    await serverNotes.put('note', 'T1', { ...NOTE, text: 'nobody to ask' });
    expect(await serverNotes.find('note', 'T1', 1001)).not.toHaveProperty('contact');
    await serverNotes.remove('note', 'T1', 1001);
    expect(await serverNotes.find('note', 'T1', 1001)).toBeUndefined();
    expect(await serverNotes.find('note', 'T2', 1001)).toMatchObject({ text: 'of others' });
  });

  test('don’t touch protections, of which the first stays until it is lifted', async () => {
    const { serverNotes } = await make();
    const protection = { serverId: 1001, protectedBy: 'U1', protectedAt: T0 };
    await serverNotes.put('protection', 'T1', protection);
    await serverNotes.put('protection', 'T1', { ...protection, protectedBy: 'U2', protectedAt: T0 + 1 });
    await serverNotes.put('note', 'T1', NOTE);
    await serverNotes.remove('note', 'T1', 1001);
    expect(await serverNotes.list('protection', 'T1')).toEqual([protection]);
    expect(await serverNotes.find('protection', 'T2', 1001)).toBeUndefined();
    await serverNotes.remove('protection', 'T1', 1001);
    expect(await serverNotes.find('protection', 'T1', 1001)).toBeUndefined();
  });
});
