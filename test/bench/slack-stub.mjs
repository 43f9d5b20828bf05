// What the bench has in place of Slack, as cheap as can be: it knows the bot, and takes whatever is posted to it.
import { createServer } from 'node:http';

const identity = JSON.stringify({ ok: true, team_id: 'T0SANDBOX', team: 'Sandbox', user_id: 'U0VPSBOT01' });
let replies = 0;
let lastReplyAt = 0;
let lastBody = [];

const server = createServer((request, response) => {
  const isReply = request.url?.startsWith('/reply/') === true;
  const body = [];
  request.on('data', (part) => body.push(part));
  request.on('end', () => {
    if (isReply) {
      replies++;
      lastReplyAt = performance.timeOrigin + performance.now();
      lastBody = body;
    }
    response.end(isReply ? 'ok' : identity);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () =>
  console.log(JSON.stringify({ msg: 'ready', port: server.address().port })),
);
process.on('message', () => {
  process.send?.({ replies, lastReplyAt, lastReply: Buffer.concat(lastBody).toString() });
});
process.on('disconnect', () => process.exit());
