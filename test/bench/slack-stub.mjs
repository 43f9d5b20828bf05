// What the bench has in place of Slack, as cheap as can be: it knows the bot, and takes whatever is posted to it.
import { createServer } from 'node:http';

const identity = JSON.stringify({ ok: true, team_id: 'T0SANDBOX', team: 'Sandbox', user_id: 'U0VPSBOT01' });
const server = createServer((request, response) => {
  request.resume().on('end', () => response.end(identity));
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () =>
  console.log(JSON.stringify({ port: server.address().port, msg: 'ready' })),
);
