import type { IncomingMessage, ServerResponse } from 'node:http';
import { isSameOrigin, readBody, sendJson, sendText } from '../http.ts';
import { readJson, textIn } from '../json.ts';
import type { PageDone } from '../page-api.ts';
import { SlackRefusal } from '../refusal.ts';
import type { Person } from '../workspace.ts';
import type { World } from '../world.ts';
import { isPageDeed, perform } from './deeds.ts';
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
  if (route === 'POST /page/do') return answerDeed(world, incoming, outgoing);
  const person = findClient(world, query.get('as') ?? '');
  if (!person) return sendText(outgoing, 404, 'nobody of that id');
  if (route === 'GET /page/state') return sendJson(outgoing, 200, pageState(world, person));
  if (route === 'GET /page/live') return streamEvents(world, person, outgoing);
  return sendText(outgoing, 404, 'not found');
}

async function answerDeed(world: World, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  if (!incoming.headers['content-type']?.startsWith('application/json'))
    return sendText(outgoing, 415, 'JSON is needed');
  const deed = readJson(await readBody(incoming));
  const person = findClient(world, textIn(deed, 'as'));
  if (!isPageDeed(deed) || !person) {
    const refused: PageDone = {
      ok: false,
      error: 'invalid_deed',
      words: 'That is nothing a person can do here',
    };
    return sendJson(outgoing, 400, refused);
  }
  try {
    return sendJson(outgoing, 200, await perform(world, person, deed));
  } catch (error) {
    if (!(error instanceof SlackRefusal)) throw error;
    // No error of the page: it is for the person to read, and browsers report everything but 2xx.
    return sendJson(outgoing, 200, refusalOf(error));
  }
}

function refusalOf(refusal: SlackRefusal): PageDone {
  return {
    ok: false,
    error: refusal.code,
    words: refusal.words,
    ...(refusal.confirm ? { confirm: refusal.confirm } : {}),
    ...(refusal.errors ? { errors: refusal.errors } : {}),
  };
}

/** Whoever can sit at a client. */
function findClient(world: World, id: string): Person | undefined {
  const person = world.roster.findPerson(id);
  return person?.isBot || person?.isDeactivated ? undefined : person;
}
