import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What happens to the connection of the next COMMIT: it is lost before the database sees it, or after it has committed. */
type Loss = 'before' | 'after' | 'after, and it stays away';

export type TcpProxy = Awaited<ReturnType<typeof startTcpProxy>>;

// A simple query: its kind, its length, its text.
const COMMIT = Buffer.from('commit\0');

/** A network between an app and PostgreSQL that can fail. */
export async function startTcpProxy(databaseUrl: string) {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let state: 'open' | 'cut' | 'frozen' = 'open';
  let loss: Loss | undefined;
  let lostStatement = '';
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    keep(client);
    if (state === 'cut') return void client.destroy();
    const database = connect(Number(target.port), target.hostname);
    keep(database);
    const lose = () => [client, database].map((socket) => socket.destroy());
    let isLost = false;
    let hasStatement = false;
    client.on('close', () => database.destroy());
    database.on('close', () => client.destroy());
    client.on('data', (bytes) => {
      if (state === 'frozen') return;
      // Not before one is named: every statement includes ''.
      if (loss !== undefined && bytes.includes(lostStatement)) hasStatement = true;
      isLost = loss !== undefined && hasStatement && bytes.includes(COMMIT);
      if (bytes.includes(COMMIT)) hasStatement = false;
      if (isLost && loss === 'before') lose();
      else database.write(bytes);
      if (!isLost) return;
      if (loss === 'after, and it stays away') state = 'cut';
      loss = undefined;
    });
    database.on('data', (bytes) => {
      if (state === 'frozen') return;
      if (isLost) lose();
      else client.write(bytes);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const drop = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: url.href,
    /** Ends all connections; new ones are refused until `mend`. */
    cut: () => {
      state = 'cut';
      drop();
    },
    mend: () => {
      state = 'open';
    },
    /** Passes nothing on any more, without closing the connections. */
    freeze: () => {
      state = 'frozen';
    },
    /** `statement`: only of a transaction with it, so that no job's commit is lost in its place. */
    loseNextCommit: (next: Loss, statement = '') => {
      loss = next;
      lostStatement = statement;
    },
    [Symbol.asyncDispose]: async () => {
      drop();
      server.close();
    },
  };
}
