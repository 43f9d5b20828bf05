// The yardstick: Bolt with one listener of each kind and nothing else. With REPLY set it also posts that, constant, message
// to the `response_url`, through Bolt's own `respond`. With HOSTING_BASE_URL and API_KEY set it reboots the server with the ID
// that ends what was typed or pressed, after the ack. Plain JavaScript, so that it runs as the built app runs.
import { App, HTTPReceiver, LogLevel } from '@slack/bolt';

const logger = {
  debug() {},
  info() {},
  warn() {},
  error: console.error,
  setLevel() {},
  setName() {},
  getLevel: () => LogLevel.ERROR,
};
const receiver = new HTTPReceiver({ signingSecret: process.env.SLACK_SIGNING_SECRET, logger });
const app = new App({
  receiver,
  logger,
  convoStore: false,
  ignoreSelf: false,
  authorize: async () => ({ botToken: 'xoxb-none' }),
});
const { REPLY, HOSTING_BASE_URL, API_KEY } = process.env;
const reply = REPLY ? JSON.parse(REPLY) : undefined;
const options = Array.from({ length: 10 }, (_, at) => ({
  text: { type: 'plain_text', text: `web-${at}` },
  value: String(at),
}));

async function reboot(text) {
  const [id] = /\d+$/.exec(text) ?? [];
  if (!HOSTING_BASE_URL || id === undefined) return;
  const headers = { authorization: `Bearer ${API_KEY}` };
  await fetch(`${HOSTING_BASE_URL}/servers/${id}/reboot`, { method: 'POST', headers });
}

app.command('/vps', async ({ ack, respond, command }) => {
  await ack();
  if (reply) await respond(reply);
  await reboot(command.text);
});
app.action(/./, async ({ ack, action }) => {
  await ack();
  await reboot(action.value ?? '');
});
app.options(/./, async ({ ack }) => ack({ options }));
app.event('app_mention', async ({ event }) => reboot(event.text));
app.message(async ({ message }) => reboot(message.text ?? ''));
const server = await app.start(0);
server.keepAliveTimeout = 60_000;
console.log(JSON.stringify({ port: server.address().port, msg: 'ready' }));
