import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Panel, withPanel } from '../../../src/sandbox/panel/panel.ts';
import type { PanelAction, PanelResult, PanelState } from '../../../src/sandbox/panel/panel-api.ts';
import { startTeam, type Team, type TeamOptions } from '../../support/team.ts';

/** What came back over the wire. */
interface Answer {
  readonly status: number;
  readonly text: string;
}

/** A team with the panel beside it, and a browser's view of the panel. */
export interface Beside extends AsyncDisposable {
  readonly team: Team;
  readonly port: number;
  state(): Promise<PanelState>;
  perform(action: PanelAction): Promise<PanelResult>;
  send(method: string, path: string, headers?: Record<string, string>, body?: string): Promise<Answer>;
  /** The state after each change from now on. */
  listen(): readonly PanelState[];
}

/** Starts a team without an API key in the app, unless told otherwise, and the panel beside it. */
export async function startWithPanel(options: TeamOptions = {}): Promise<Beside> {
  const team = await startTeam({ isConnected: false, ...options });
  const { hosting, account, slack } = team;
  const listeners: PanelState[][] = [];
  let told = Promise.resolve();
  const onChange = () => {
    if (listeners.length === 0) return;
    told = told.then(async () => {
      const state = await panel.state();
      for (const states of listeners) states.push(state);
    });
  };
  const panel = new Panel({ hosting, account, slack, store: team.app.ports, onChange });
  await panel.check();
  const server = createServer(
    withPanel(
      (_incoming, outgoing) => outgoing.writeHead(404).end('the page'),
      () => panel,
    ),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const send: Beside['send'] = (method, path, headers, body) => sendTo(port, method, path, headers, body);
  return {
    team,
    port,
    send,
    state: async () => JSON.parse((await send('GET', '/panel/state')).text) as PanelState,
    perform: async (action) => {
      const json = { 'content-type': 'application/json' };
      return JSON.parse((await send('POST', '/panel/do', json, JSON.stringify(action))).text) as PanelResult;
    },
    listen: () => {
      const states: PanelState[] = [];
      listeners.push(states);
      return states;
    },
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await panel.close();
      await told;
      await team[Symbol.asyncDispose]();
    },
  };
}

/** Not `fetch`, which can't send the headers of a browser. */
function sendTo(
  port: number,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body = '',
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Connects the app as an owner would: by the form behind the link of `/vps connect`. */
export async function connectByForm({ team }: Beside, key: string): Promise<number> {
  const owner = team.slack.as('olga').in('#ops').overlooksOldMessages();
  await owner.types('/vps connect');
  await owner.sees('Enter the API key');
  const link = new URL(owner.links().findLast((each) => each.includes('/connect/')) ?? '');
  const answer = await fetch(`${team.appUrl}${link.pathname}`, {
    method: 'POST',
    body: new URLSearchParams({ api_key: key }),
  });
  return answer.status;
}

/** Orders a server in Slack, as a manager. */
export async function orderServer({ team }: Beside, label: string): Promise<void> {
  const manager = team.slack.as('mara').in('#ops');
  await manager.types('/vps create');
  await manager.fills({ Plan: 'small', Location: 'ams', Image: 'debian-13', Label: label });
  await manager.presses('Review');
  await manager.sees('5.90');
  await manager.presses('Create and pay');
}
