import { describe, expect, it } from 'vitest';
import { afterCommand, input, modal } from './support/fake-app.ts';

describe('a menu of channels', () => {
  const filter = { include: ['public', 'private'], exclude_external_shared_channels: true };

  async function open(element: object) {
    const { open: openView, owner, slack } = await afterCommand();
    await openView(modal([input('Where', { ...element, action_id: 'it' })]));
    return { owner, slack };
  }

  it.each([
    [
      'a conversation menu without a filter',
      { type: 'conversations_select' },
      ['#random', '#management', '#acme-shared', 'dm'],
    ],
    [
      'a conversation menu with a filter',
      { type: 'conversations_select', filter },
      ['#random', '#management'],
    ],
  ])('%s offers what its filter lets through', async (_name, element, offered) => {
    const { owner } = await open(element);
    const all = ['#random', '#management', '#acme-shared', 'dm'];
    const taken: string[] = [];
    for (const channel of all)
      await owner.fills({ Where: channel }).then(
        () => taken.push(channel),
        () => undefined,
      );
    expect(taken).toEqual(offered);
  });

  it('offers neither archived channels nor private ones of others', async () => {
    const { owner, slack } = await open({ type: 'conversations_select' });
    slack.admin.archive('#random');
    slack.admin.channel('#management').members.delete(owner.id);
    for (const channel of ['#random', '#management'])
      await expect(owner.fills({ Where: channel })).rejects.toMatchObject({ code: 'not_an_option' });
  });
});
