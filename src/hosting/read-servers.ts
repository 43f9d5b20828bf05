import type { Server } from '../domain/server.ts';
import { type Fields, fieldsOf, findText, findTime, findWhole } from './fields.ts';
import { type PageSigns, type PagingHeaders, readPageSigns } from './paging.ts';

/** One page of `GET /servers`; it is the whole list unless something announces more. */
export interface ServerPage {
  readonly servers: readonly Server[];
  /** The number of elements that can't be read but may be servers. */
  readonly unreadable: number;
  readonly signs: PageSigns;
}

/** Reads an answer to `GET /servers` (docs/hosting-api.md 4); one element that can't be read does not hide the others. */
export function readServers(
  body: unknown,
  answer: { readonly status: number; readonly paging?: PagingHeaders },
): ServerPage | undefined {
  const list = findList(body);
  if (!list) return undefined;
  const servers = list.elements.map(findServer).filter((server) => server !== undefined);
  const unreadable = list.elements.length - servers.length;
  // No element could be read: an empty list would be wrong.
  if (servers.length === 0 && unreadable > 0) return undefined;
  return { servers, unreadable, signs: readPageSigns(answer, list.around, list.elements.length) };
}

const LIST_FIELDS = ['servers', 'data', 'items', 'results', 'result', 'records', 'list'];

interface List {
  readonly elements: readonly unknown[];
  /** The objects around the list, without the list. */
  readonly around: readonly Fields[];
}

/** The list itself, or the only list in an object; with two lists it is not certain which one is meant. */
function findList(body: unknown): List | undefined {
  if (Array.isArray(body)) return { elements: body, around: [] };
  const outer = fieldsOf(body);
  const found = LIST_FIELDS.flatMap((name): List[] => {
    const { [name]: held, ...rest } = outer;
    if (Array.isArray(held)) return [{ elements: held, around: [rest] }];
    const inner = fieldsOf(held);
    return LIST_FIELDS.flatMap((innerName): List[] => {
      const { [innerName]: elements, ...innerRest } = inner;
      return Array.isArray(elements) ? [{ elements, around: [rest, innerRest] }] : [];
    });
  });
  return found.length === 1 ? found[0] : undefined;
}

/** Only the ID is required; any other odd value becomes absent or ''. */
function findServer(element: unknown): Server | undefined {
  const { id: writtenId, label, state, ipv4, paid_until } = fieldsOf(element);
  const id = findWhole(writtenId);
  if (id === undefined) return undefined;
  const address = typeof ipv4 === 'string' ? ipv4.trim() : '';
  const paidUntil = findTime(paid_until);
  return {
    id,
    label: findText(label) ?? '',
    state: findText(state)?.trim() ?? '',
    ...(address !== '' && { ipv4: address }),
    ...(paidUntil !== undefined && { paidUntil }),
  };
}
