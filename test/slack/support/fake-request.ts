import { makeGrant, makeServer, NOW } from '../../../src/sandbox/gallery/fixtures/samples.ts';
import type { ServerCard } from '../../../src/servers/card.ts';
import type { Message } from '../../../src/slack/kit/blocks.ts';
import type { SlackRequest } from '../../../src/slack/request.ts';

/** A request that records which use cases were executed and what was replied. */
export interface FakeRequest extends SlackRequest {
  readonly entered: [name: string, input: unknown][];
  readonly said: Message[];
}

const sheet: ServerCard = { server: makeServer() };
const ANSWERS: Readonly<Record<string, unknown>> = {
  list: { servers: [], extent: 'whole' },
  show: sheet,
  audit: [],
  access: [],
  access_grant: { grant: makeGrant(1) },
  access_revoke: { removed: [makeGrant(1)], left: [] },
  stop: { server: makeServer(), state: 'stopped', isUnconfirmed: false },
};

/** A request whose use cases all succeed without doing anything. */
export function fakeRequest(): FakeRequest {
  const entered: FakeRequest['entered'] = [];
  const said: Message[] = [];
  const say = async (message: Message) => {
    said.push(message);
    return true;
  };
  const request = {
    entered,
    said,
    caller: { actor: { workspaceId: 'T1', userId: 'U1' }, surface: 'command' as const },
    currency: 'EUR',
    now: () => NOW,
    announce: async () => false,
    reply: { send: say, replace: say, edit: say, announce: say, delete: async () => true },
    execute: async (useCase: { name: string }, input: object) => {
      // What several names stand for is read before anything is done to them.
      if ('names' in input) return { kind: 'names', names: input.names, unmatched: [] };
      entered.push([useCase.name, input]);
      return ANSWERS[useCase.name];
    },
    authorize: async () => undefined,
    findRole: async () => undefined,
    explain: (error: unknown) => String(error),
    subrequest: () => request,
  } as unknown as FakeRequest;
  return request;
}
