import { describe, expect, it } from 'vitest';
import { afterCommand, input, modal, startBoth } from './support/fake-app.ts';

const OPS = 'C0OPS00001';

/** A message in #ops, and the thread under it, which one reply of the app began. */
async function startThread() {
  const { slack, app } = await startBoth();
  await slack.as('olga').types('web-1 is slow');
  const [{ ts: threadTs } = { ts: '' }] = slack.as('olga').messages();
  const reply = (more: object) => app.call('chat.postMessage', { channel: OPS, text: 'looking', ...more });
  return { slack, app, threadTs, reply };
}

it('a thread takes messages, and no slash commands', async () => {
  const { slack } = await startThread();
  const inThread = slack.as('vera').inThreadOf('web-1 is slow');
  await inThread.types('I see');
  await inThread.sees('I see');
  await expect(inThread.types('/vps list')).rejects.toMatchObject({ code: 'not_in_threads' });
});

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
