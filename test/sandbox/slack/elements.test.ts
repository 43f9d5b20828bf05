import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/sandbox/slack/page-api.ts';
import { actions, brokenRules, button, option, plain, startBoth } from './support/fake-app.ts';

const OPS = 'C0OPS00001';

async function withMessage(...blocks: Json[]) {
  const { slack, app } = await startBoth();
  await app.call('chat.postMessage', { channel: OPS, text: 'message', blocks });
  return { slack, app, owner: slack.as('olga'), brokenRules: () => brokenRules(slack) };
}

describe('a button in a message', () => {
  it('does not send the content of an ephemeral message along', async () => {
    const { slack, app } = await startBoth();
    const owner = slack.as('olga');
    app.reply = ({ kind }) =>
      kind === 'command' ? { body: { text: 'x', blocks: [actions(button('Yes'))] } } : {};
    await owner.types('/vps ask');
    await owner.presses('Yes');
    expect(app.last()).toMatchObject({ container: { is_ephemeral: true } });
    expect(app.last()).not.toHaveProperty('message');
  });

  it('names the home team of a user of another organization', async () => {
    const { slack, app } = await startBoth();
    const blocks = [actions(button('Start'))];
    await app.call('chat.postMessage', { channel: 'C0SHARED01', text: 'x', blocks });
    await slack.as('sam').in('#acme-shared').presses('Start');
    expect(app.last()).toMatchObject({ user: { team_id: 'T0ACME0001' }, team: { id: 'T0SANDBOX' } });
  });

  it('breaks the rules when its ack says something, or comes late', async () => {
    const { app, owner, slack, brokenRules } = await withMessage(actions(button('Start')));
    app.reply = () => ({ body: 'thanks' });
    await owner.presses('Start');
    expect(brokenRules()).toEqual(['bad_ack']);
    slack.app.ackTimeoutMs = 40;
    app.reply = () => ({ isSilent: true });
    await owner.presses('Start');
    await owner.sees('trouble connecting');
    slack.as('vera').doesNotSee('trouble connecting');
    expect(brokenRules()).toEqual(['bad_ack', 'late_ack']);
  });
});

describe('an external select', () => {
  const external = (more: Json = {}) =>
    actions({ type: 'external_select', action_id: 'find', placeholder: plain('Find a server'), ...more });

  it('asks the app for options while the user types, and takes only those', async () => {
    const { app, owner, brokenRules } = await withMessage(external({ min_query_length: 1 }));
    app.reply = ({ kind, content }) =>
      kind === 'block_suggestion'
        ? { body: { options: [option(`${content.value}-a`), option(`${content.value}-b`)] } }
        : {};
    expect(await owner.suggestionsFor('Find a server', 'we')).toEqual(['we-a', 'we-b']);
    expect(app.last()).toMatchObject({
      type: 'block_suggestion',
      action_id: 'find',
      block_id: 'actions',
      value: 'we',
    });
    await expect(owner.chooses('Find a server', 'web')).rejects.toThrow('not_an_option');
    app.reply = ({ kind }) =>
      kind === 'block_suggestion' ? { body: { options: [option('web-1', '7')] } } : {};
    await owner.chooses('Find a server', 'web-1');
    expect(app.last()).toMatchObject({
      actions: [{ type: 'external_select', selected_option: { value: '7' } }],
    });
    expect(brokenRules()).toEqual([]);
  });

  it('does not ask the app before enough is typed', async () => {
    const { app, owner } = await withMessage(external());
    await expect(owner.suggestionsFor('Find a server', 'we')).rejects.toThrow('query_too_short');
    expect(app.received).toEqual([]);
  });

  it('offers nothing when the app gives too many options, none, or no answer', async () => {
    const { slack, app, owner, brokenRules } = await withMessage(external({ min_query_length: 0 }));
    const offer = async () => owner.suggestionsFor('Find a server', '');
    app.reply = () => ({ body: { options: [] } });
    expect(await offer()).toEqual([]);
    app.reply = () => ({ body: { options: Array.from({ length: 101 }, (_, i) => option(`${i}`)) } });
    await expect(offer()).rejects.toThrow('no_options');
    app.reply = () => ({});
    await expect(offer()).rejects.toThrow('no_options');
    slack.app.ackTimeoutMs = 40;
    app.reply = () => ({ isSilent: true });
    await expect(offer()).rejects.toThrow('no_options');
    expect(brokenRules()).toEqual(['limits', 'bad_ack', 'late_ack']);
  });
});
