// The yardstick: Bolt with one listener and nothing else. With REPLY set it also posts that, constant, message
// to the `response_url`, through Bolt's own `respond`. Plain JavaScript, so that it runs as the built app runs.
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
const reply = process.env.REPLY ? JSON.parse(process.env.REPLY) : undefined;
app.command('/vps', async ({ ack, respond }) => {
  await ack();
  if (reply) await respond(reply);
});
const server = await app.start(0);
server.keepAliveTimeout = 60_000;
console.log(JSON.stringify({ msg: 'ready', port: server.address().port }));
