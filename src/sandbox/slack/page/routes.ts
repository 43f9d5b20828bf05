import type { IncomingMessage, ServerResponse } from 'node:http';
import { isSameOrigin, readBody, sendJson, sendText } from '../http.ts';
import { readJson, textIn } from '../json.ts';
import type { PageResult } from '../page-api.ts';
import { SlackRefusal } from '../refusal.ts';
import type { User } from '../workspace.ts';
import type { World } from '../world.ts';
import { isPageAction, perform } from './actions.ts';
import { pageState } from './describe.ts';
import { streamEvents } from './live.ts';

/** Answers the page API; `page-api.ts` is its contract. */
export async function answerPage(
  world: World,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  path: string,
  query: URLSearchParams,
): Promise<void> {
  if (!isSameOrigin(incoming)) return sendText(outgoing, 403, 'not from another site');
  const route = `${incoming.method} ${path}`;
  if (route === 'POST /page/do') return answerAction(world, incoming, outgoing);
  const user = findClient(world, query.get('as') ?? '');
  if (!user) return sendText(outgoing, 404, 'no such user');
  if (route === 'GET /page/state') return sendJson(outgoing, 200, pageState(world, user));
  if (route === 'GET /page/live') return streamEvents(world, user, outgoing);
  return sendText(outgoing, 404, 'not found');
}

async function answerAction(
  world: World,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  if (!incoming.headers['content-type']?.startsWith('application/json'))
    return sendText(outgoing, 415, 'JSON is needed');
  const action = readJson(await readBody(incoming));
  const user = findClient(world, textIn(action, 'as'));
  if (!isPageAction(action) || !user) {
    const refused: PageResult = {
      ok: false,
      error: 'invalid_action',
      words: 'The page sent an unknown action',
    };
    return sendJson(outgoing, 400, refused);
  }
  try {
    return sendJson(outgoing, 200, await perform(world, user, action));
  } catch (error) {
    if (!(error instanceof SlackRefusal)) throw error;
    // A refusal is for the user to read; browsers would report any status but 2xx as an error of the page.
    return sendJson(outgoing, 200, refusalOf(error));
  }
}

function refusalOf(refusal: SlackRefusal): PageResult {
  return {
    ok: false,
    error: refusal.code,
    words: refusal.words,
    ...(refusal.confirm ? { confirm: refusal.confirm } : {}),
    ...(refusal.errors ? { errors: refusal.errors } : {}),
  };
}

/** Finds a user who can use a client: no bot, not deactivated. */
function findClient(world: World, id: string): User | undefined {
  const user = world.roster.findUser(id);
  return user?.isBot || user?.isDeactivated ? undefined : user;
}
