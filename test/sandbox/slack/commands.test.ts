import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { SlackRefusal } from '../../../src/sandbox/slack/refusal.ts';
import { SECRET, section, startBoth } from './support/fake-app.ts';

const brokenRules = (slack: { brokenRules(): readonly { rule: string }[] }) =>
  slack.brokenRules().map(({ rule }) => rule);

describe('a slash command', () => {
  it('reaches the app as a signed form with all the fields that Slack sends', async () => {
    const { slack, app } = await startBoth();
    await slack.as('olga').in('#ops').types('/vps list all');
    const [request] = app.received;
    expect(request?.content).toMatchObject({
      team_id: 'T0SANDBOX',
      channel_id: 'C0OPS00001',
      channel_name: 'ops',
      user_id: 'U0OWNER001',
      user_name: 'olga',
      command: '/vps',
      text: 'list all',
      is_enterprise_install: 'false',
      response_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/reply\//),
      trigger_id: expect.any(String),
    });
    expect(request?.headers['content-type']).toBe('application/x-www-form-urlencoded');
    const base = `v0:${request?.headers['x-slack-request-timestamp']}:${request?.body}`;
    const signature = createHmac('sha256', SECRET).update(base).digest('hex');
    expect(request?.headers['x-slack-signature']).toBe(`v0=${signature}`);
  });

  it('contains users, channels, groups and addresses as IDs, and & < > as entities', async () => {
    const { slack, app } = await startBoth();
    await slack.as('olga').types('/vps @vera #ops @oncall @here <b> & https://x.test/?a=1 me@viewer');
    expect(app.last().text).toBe(
      '<@U0VIEWER01> <#C0OPS00001|ops> <!subteam^S0ONCALL01> <!here> &lt;b&gt; &amp; <https://x.test/?a=1> me@viewer',
    );
  });

  it('names private channels and conversations as Slack does', async () => {
    const { slack, app } = await startBoth();
    await slack.as('olga').in('dm').types('/vps help');
    expect(app.last().channel_name).toBe('directmessage');
    await slack.as('olga').in('#management').types('/vps help');
    expect(app.last().channel_name).toBe('privategroup');
  });

  it('shows the text or the message of its ack to the user only, unless it says in_channel', async () => {
    const { slack, app } = await startBoth();
    const owner = slack.as('olga');
    app.reply = () => ({ body: 'just text' });
    await owner.types('/vps a');
    app.reply = () => ({ body: { text: 'note', blocks: [section('quiet *blocks*')] } });
    await owner.types('/vps b');
    app.reply = () => ({ body: { text: 'for all', response_type: 'in_channel' } });
    await owner.types('/vps c');
    expect(owner.messages().map(({ shown, ephemeral }) => [shown, ephemeral])).toEqual([
      ['just text', true],
      ['quiet blocks', true],
      ['for all', false],
    ]);
    expect(slack.as('vera').messages()).toHaveLength(1);
    expect(brokenRules(slack)).toEqual([]);
  });

  it('ends in operation_timeout when the app does not acknowledge in time', async () => {
    const { slack, app } = await startBoth({ app: { ackTimeoutMs: 40 } });
    app.reply = () => ({ delayMs: Number.POSITIVE_INFINITY });
    const owner = slack.as('olga');
    await owner.types('/vps list');
    await owner.sees('/vps failed with the error "operation_timeout"');
    slack.as('vera').doesNotSee('operation_timeout');
    expect(brokenRules(slack)).toEqual(['late_ack']);
  });

  it('ends in dispatch_failed when the app answers anything but 200', async () => {
    const { slack, app } = await startBoth();
    app.reply = () => ({ status: 500 });
    const owner = slack.as('olga');
    await owner.types('/vps list');
    await owner.sees('dispatch_failed');
    expect(brokenRules(slack)).toEqual(['bad_ack']);
  });

  it('drops an ack with blocks that Slack refuses', async () => {
    const { slack, app } = await startBoth();
    app.reply = () => ({ body: { text: 'x', blocks: [section('')] } });
    await slack.as('olga').types('/vps list');
    expect(slack.as('olga').messages()).toEqual([]);
    expect(brokenRules(slack)).toEqual(['limits']);
  });

  it('is not available to users of other organizations, nor in channels they are not in', async () => {
    const { slack, app } = await startBoth();
    const external = slack.as('sam').in('#acme-shared');
    await expect(external.types('/vps list')).rejects.toThrow('command_not_available');
    expect(() => slack.as('gus').in('#random')).toThrow(SlackRefusal);
    expect(() => slack.as('gus').in('#nowhere')).toThrow('channel_not_found');
    await expect(slack.as('olga').types('/other')).rejects.toThrow('unknown_command');
    expect(app.received).toEqual([]);
  });

  it('is a plain message without the slash', async () => {
    const { slack, app } = await startBoth();
    await slack.as('olga').types('good morning @vera');
    await slack.as('vera').sees('good morning @vera');
    expect(app.received).toEqual([]);
  });
});
