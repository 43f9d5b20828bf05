import { describe, expect, it } from 'vitest';
import { renderMrkdwn } from '../../support/slack/mrkdwn.ts';

const around = {
  channels: [{ id: 'C1', name: 'ops', kind: 'public', members: new Set<string>() }],
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
});
