import { describe, expect, it } from 'vitest';
import { escapeEntities } from '../../../src/sandbox/slack/mentions.ts';
import { decodeEntities, formatDate, renderMrkdwn } from '../../support/slack/mrkdwn.ts';
import { cell, table } from './support/block-samples.ts';
import { actions, button, modal, option, plain, section, startBoth, textInput } from './support/fake-app.ts';

const around = {
  channels: [{ id: 'C1', name: 'ops', kind: 'public', members: new Set<string>() }],
  now: 0,
} as const;
const render = (text: string) => renderMrkdwn(text, around);

describe('what a reader sees', () => {
  it.each([
    ['*web-1* is _up_, ~not~ down', 'web-1 is up, not down'],
    ['my_web_1 costs 2*3*4', 'my_web_1 costs 2*3*4'],
    ['`my_*web*_1` and ```two\nlines```', 'my_*web*_1 and two\nlines'],
    [
      '<@U0OWNER001> in <#C1|ops> with <!subteam^S0ONCALL01> and <!here>',
      '@olga in #ops with @oncall and @here',
    ],
    ['<https://x.test|the page> or <https://y.test>', 'the page or https://y.test'],
    ['&lt;!channel&gt; &amp;amp;', '<!channel> &amp;'],
    ['until <!date^86400^{date_short_pretty} {time}|1970>', 'until Jan 2, 1970 00:00'],
  ])('of %s is %s', (written, read) => {
    expect(render(written)).toBe(read);
  });

  it('reads dates in UTC', () => {
    expect(formatDate(1_700_000_000, '{date_num} {time_secs} {date_long}', 0)).toBe(
      '2023-11-14 22:13:20 Tuesday, November 14, 2023',
    );
    expect(formatDate(7200, '{ago}', 0)).toBe('in 2 hours');
    expect(formatDate(0, '{ago} {unknown}', 60_000)).toBe('1 minute ago {unknown}');
  });

  it('gives back what was escaped', () => {
    expect(decodeEntities(escapeEntities('a < b & c > d &lt;'))).toBe('a < b & c > d &lt;');
  });

  it('is the modal first, then the messages, as the driver prints them', async () => {
    const { slack, app } = await startBoth();
    const owner = slack.as('olga');
    const servers = table([
      [cell('Label'), cell('Paid')],
      [cell('web-1'), cell('7 days')],
    ]);
    const pick = {
      type: 'static_select',
      action_id: 'pick',
      placeholder: plain('Manage'),
      options: [option('web-1', '1')],
    };
    const blocks = [{ type: 'header', text: plain('All') }, servers, actions(pick, button('Next'))];
    await app.call('chat.postMessage', { channel: 'C0OPS00001', text: 'not shown', blocks });
    await owner.types('/vps create');
    const view = modal([section('*Choose*'), textInput('Label', { hint: plain('short') })]);
    await app.call('views.open', { trigger_id: app.last().trigger_id, view });
    expect(owner.screen()).toBe(
      [
        '┌ A form',
        'Choose',
        'Label: []',
        'short',
        '[Cancel] [Send]',
        '└',
        'vps:',
        'All',
        'Servers',
        'Label | Paid',
        'web-1 | 7 days',
        '[Manage ▾] [Next]',
      ].join('\n'),
    );
  });

  it('fails with the text of the screen when the expected text is missing', async () => {
    const { slack } = await startBoth();
    const owner = slack.as('olga');
    await owner.types('hello');
    await expect(owner.sees('goodbye', 20)).rejects.toThrow(
      'olga does not see "goodbye", but:\nolga:\nhello',
    );
    expect(() => owner.doesNotSee('hello')).toThrow('does see');
    owner.overlooksOldMessages().doesNotSee('hello');
  });

  it('holds the addresses of links and link buttons', async () => {
    const { slack, app } = await startBoth();
    const blocks = [
      section('<https://x.test/a?b=1&amp;c=2|here>'),
      actions(button('Go', { url: 'https://y.test/z' })),
    ];
    await app.call('chat.postMessage', { channel: 'C0OPS00001', text: 'x', blocks });
    expect(slack.as('olga').links()).toEqual(['https://x.test/a?b=1&c=2', 'https://y.test/z']);
  });
});
