import { App, HTTPReceiver } from '@slack/bolt';
import { describe, expect, it } from 'vitest';
import { startSlack } from '../../support/slack/local-slack.ts';
import { button, modal, plain, SECRET, section, TOKEN, textInput } from './support/fake-app.ts';

/** A small app on the real Bolt and its real Web API client, to see that nothing of theirs is missed. */
async function startBoltApp() {
  const slack = await startSlack({
    app: { signingSecret: SECRET, botToken: TOKEN, scopes: ['commands', 'chat:write'] },
  });
  const receiver = new HTTPReceiver({ signingSecret: SECRET, port: 0 });
  const app = new App({
    receiver,
    token: TOKEN,
    convoStore: false,
    clientOptions: { slackApiUrl: slack.apiUrl, retryConfig: { retries: 0 } },
  });
  app.command('/vps', async ({ ack, command, client, respond }) => {
    await ack();
    if (command.text !== 'create') return void (await respond(`You said ${command.text}`));
    const view = modal([textInput('Label')], { private_metadata: command.response_url });
    await client.views.open({ trigger_id: command.trigger_id, view: view as never });
  });
  app.view('form', async ({ ack, view, body, client }) => {
    const label = view.state.values.Label?.text?.value ?? '';
    if (label === 'bad')
      return void (await ack({ response_action: 'errors', errors: { Label: 'Not this one' } }));
    await ack();
    await client.chat.postMessage({
      channel: 'C0OPS00001',
      text: `<@${body.user.id}> made ${label}`,
      blocks: [
        section(`<@${body.user.id}> made *${label}*`),
        { type: 'actions', elements: [button('Delete', { confirm: { text: plain('Really?') } })] },
      ] as never,
    });
  });
  app.action('press-Delete', async ({ ack, respond }) => {
    await ack();
    await respond({ replace_original: true, text: 'Gone' });
  });
  const server = await app.start(0);
  const address = server.address();
  slack.app.commandsUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/slack/events`;
  return {
    slack,
    [Symbol.asyncDispose]: async () => {
      await slack.stop();
      await app.stop();
    },
  };
}

describe('a story with the real Bolt', () => {
  it('runs from the command over the form and the message to the button', async () => {
    await using started = await startBoltApp();
    const { slack } = started;
    const owner = slack.as('olga').in('#ops');
    const viewer = slack.as('vera').in('#ops');

    await owner.types('/vps hello @vera');
    await owner.sees('You said hello @vera');
    viewer.doesNotSee('You said');

    await owner.types('/vps create');
    await owner.fills({ Label: 'bad' });
    await owner.presses('Send');
    await owner.sees('Not this one');
    await owner.fills({ Label: 'web-1' });
    await owner.submits();
    await viewer.sees('@olga made web-1');

    await viewer.presses('Delete', { confirm: false });
    viewer.doesNotSee('Gone');
    await viewer.presses('Delete');
    await owner.sees('Gone');
    expect(slack.brokenRules()).toEqual([]);
  });
});
