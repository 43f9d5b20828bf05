import type { IncomingMessage, ServerResponse } from 'node:http';
import { reportFailure } from '../hosting/journal.ts';
import { isLoopbackHost, isSameOrigin, readBody, sendJson, sendText } from '../slack/http.ts';
import { readJson } from '../slack/json.ts';
import type { Pages } from '../slack/server.ts';
import { parseAction } from './actions.ts';
import type { Panel } from './panel.ts';
import type { PanelResult } from './panel-api.ts';

const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const;

/** Puts the panel API in front of the files of the page; `getPanel` is called for each request. */
export function withPanel(pages: Pages, getPanel: () => Panel | undefined): Pages {
  return (incoming, outgoing) => {
    const [path = ''] = (incoming.url ?? '').split('?');
    if (!path.startsWith('/panel/')) return pages(incoming, outgoing);
    const panel = getPanel();
    if (!panel) return sendText(outgoing, 503, 'the sandbox is starting');
    answerPanel(panel, incoming, outgoing, path).catch((error: unknown) => {
      reportFailure('The sandbox panel failed', error);
      if (outgoing.headersSent) outgoing.destroy();
      else sendText(outgoing, 500, 'the panel failed');
    });
  };
}

/** Answers the panel API; `panel-api.ts` is its contract. */
async function answerPanel(
  panel: Panel,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  path: string,
): Promise<void> {
  if (!isLoopbackHost(incoming)) return sendText(outgoing, 403, 'only from this machine');
  if (!isSameOrigin(incoming)) return sendText(outgoing, 403, 'not from another site');
  switch (`${incoming.method} ${path}`) {
    case 'GET /panel/state':
      return sendJson(outgoing, 200, await panel.state(), HEADERS);
    case 'POST /panel/do':
      return answerAction(panel, incoming, outgoing);
    default:
      return sendText(outgoing, 404, 'not found');
  }
}

async function answerAction(
  panel: Panel,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  if (!/^application\/json\b/i.test(incoming.headers['content-type'] ?? ''))
    return sendText(outgoing, 415, 'JSON is needed');
  const action = parseAction(readJson(await readBody(incoming)));
  if (!action) {
    const words = 'The page sent an unknown action.';
    const refused: PanelResult = { ok: false, error: 'invalid_action', words };
    return sendJson(outgoing, 400, refused, HEADERS);
  }
  const done = await panel.perform(action);
  // 200 for a refusal, too: it is for the user to read, and browsers report all else as errors of the page.
  return sendJson(outgoing, 200, done, HEADERS);
}
