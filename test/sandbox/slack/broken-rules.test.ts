import { describe, expect, it } from 'vitest';
import { brokenRules, button, plain, section, startBoth, TOKEN } from './support/fake-app.ts';

it('a command of which the user sees nothing breaks a rule after 3 s, and none when the ack has words', async () => {
  const { slack, app } = await startBoth();
  app.reply = ({ content }) => (content.text === 'quiet' ? {} : { body: 'Working on it…' });
  await slack.as('olga').types('/vps loud');
  await slack.as('otto').types('/vps quiet');
  await expect
    .poll(() => slack.brokenRules().map(({ rule, words }) => `${rule} ${words}`))
    .toEqual(['silent command /vps quiet: otto saw nothing for 3 s']);
});

describe('what Slack draws otherwise than it is written', () => {
  const lawsAfter = async (block: Record<string, unknown>) => {
    const { slack, app } = await startBoth();
    await app.call('chat.postMessage', { channel: 'C0OPS00001', text: 'words', blocks: [block] });
    return brokenRules(slack);
  };
  const asking = (text: Record<string, unknown>) => ({
    type: 'actions',
    elements: [
      {
        ...button('Stop'),
        confirm: { title: plain('Stop?'), text, confirm: plain('Stop'), deny: plain('Keep') },
      },
    ],
  });

  it('is markup in a dialog, which is plain text', async () => {
    expect(await lawsAfter(asking({ type: 'mrkdwn', text: '`web-1` stops' }))).toEqual(['raw_markup']);
    expect(await lawsAfter(asking(plain('web-1 stops')))).toEqual([]);
  });

  it('is a placeholder in angle brackets, which Slack takes for a link', async () => {
    expect(await lawsAfter(section('see `/vps list <filter>`'))).toEqual(['unescaped']);
    const meant = '<@U0OTTO0001> <#C0OPS00001> <!date^1^{date}|then> <https://a.example|a> &lt;filter&gt;';
    expect(await lawsAfter(section(meant))).toEqual([]);
  });

  it('is a tall section that may fold', async () => {
    const tall = section('a line\n'.repeat(10));
    expect(await lawsAfter(tall)).toEqual(['folded']);
    expect(await lawsAfter({ ...tall, expand: true })).toEqual([]);
  });
});

it('the record of the traffic holds every request in both directions, without secrets', async () => {
  const { slack, app } = await startBoth();
  await slack.as('olga').types('/vps list');
  const url = String(app.last().response_url);
  await app.respond(url, { text: `see ${url}` });
  await app.call('chat.postMessage', { channel: 'C0OPS00001', text: `hello ${TOKEN}` });
  const traffic = slack.traffic();
  expect(traffic.map(({ from, what, status }) => [from, what, status])).toEqual([
    ['slack', 'command /vps list', 200],
    ['app', 'response_url', 200],
    ['app', 'chat.postMessage', 200],
  ]);
  const secret = url.split('/').at(-1) ?? '';
  expect(secret).toMatch(/^\w{20,}$/);
  expect(JSON.stringify(traffic)).not.toContain(secret);
  expect(JSON.stringify(traffic)).not.toContain(TOKEN);
  expect(JSON.stringify(traffic)).toContain('[masked]');
});
