import type { Catalog } from '../../../src/core/catalog.ts';
import { type ApiCode, HostingError } from '../../../src/core/errors.ts';
import type { Secret } from '../../../src/core/secret.ts';
import type { Server, ServerList } from '../../../src/core/server.ts';
import type { Endpoint, WireAnswer } from '../../../src/hosting/endpoints.ts';
import * as endpoints from '../../../src/hosting/endpoints.ts';
import { decode } from '../../../src/hosting/read-catalog.ts';
import { createPathFinder, isPagingHeader, readAllPages } from '../../../src/hosting/server-list.ts';

/**
 * How an answer was read: as proof of what is so, as taken but not proven, reported as unreadable or incomplete, or as a
 * documented error.
 */
export type Kind = 'understood' | 'accepted' | 'told' | 'refused';

/** How the service stands, whatever its answer looks like. Ids are digits: a number could not hold all of them. */
export interface TrueServer {
  readonly id: string;
  readonly label?: string;
  readonly state?: string;
  readonly ipv4?: string;
  readonly paidUntil?: number;
}

export type Truth =
  | { readonly of: 'list'; readonly servers: readonly TrueServer[] }
  | {
      readonly of: 'catalog';
      readonly plans: Readonly<Record<string, number>>;
      readonly locations: readonly string[];
      readonly images: readonly string[];
    }
  /** `password` is what the service issued; `server.paidUntil` and `server.state` are what it then has. */
  | { readonly of: 'done'; readonly server: TrueServer; readonly password?: string }
  | { readonly of: 'refused'; readonly code: ApiCode }
  /** A reader of the answer can't tell whether it was done. */
  | { readonly of: 'unknown' };

export type Call = 'list' | 'catalog' | 'create' | 'renew' | 'start' | 'stop' | 'reboot' | 'delete';

export interface Row {
  readonly title: string;
  readonly call: Call;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** JSON unless it is a string, which is sent as it is. Further pages stand under their paths. */
  readonly body: unknown;
  readonly pages?: Readonly<Record<string, Omit<Row, 'title' | 'call' | 'truth' | 'kind' | 'pages'>>>;
  /** The label of the order, for answers that repeat it. */
  readonly label?: string;
  readonly truth: Truth;
  readonly kind: Kind;
}

export const ID = 7;

const BASE_URL = 'https://hosting.test/v1';

/** What the client makes of a row: the answer, or the error. */
export async function readRow(row: Row): Promise<unknown> {
  const order = { plan: 's1', location: 'fra', image: 'debian-12', label: row.label ?? 'web-1' };
  const read = <Answer>(endpoint: Endpoint<Answer>, part: Omit<Row, 'title'> | undefined) => {
    if (!part) throw new Error(`a page was asked for that is not there: ${endpoint.path}`);
    return decode(endpoint, wireOf(part));
  };
  try {
    switch (row.call) {
      case 'list':
        return await readAllPages(
          endpoints.SERVERS_PATH,
          async (path) => read(endpoints.listPage(path), path === '/servers' ? row : pageOf(row, path)),
          createPathFinder(BASE_URL, endpoints.SERVERS_PATH),
        );
      case 'catalog':
        return read(endpoints.fetchCatalog, row);
      case 'create':
        return read(endpoints.createServer(order), row);
      case 'renew':
        return read(endpoints.renewServer(ID), row);
      case 'start':
      case 'stop':
      case 'reboot':
        return read(endpoints.changePower(row.call, ID), row);
      case 'delete':
        return read(endpoints.deleteServer(ID), row);
    }
  } catch (error) {
    if (error instanceof HostingError) return error;
    throw error;
  }
}

function pageOf(row: Row, path: string): Omit<Row, 'title'> | undefined {
  const page = row.pages?.[path];
  return page && { ...row, ...page };
}

function wireOf({ status = 200, headers = {}, body }: Omit<Row, 'title'>): WireAnswer {
  return {
    status,
    text: typeof body === 'string' ? body : JSON.stringify(body),
    paging: Object.fromEntries(
      Object.entries(headers).flatMap(([name, value]) =>
        value && isPagingHeader(name) ? [[name, value]] : [],
      ),
    ),
  };
}

/** Classifies what the client made of a row: anything untrue is `misread`. */
export function classify(row: Row, made: unknown): Kind | 'misread' {
  if (made instanceof HostingError) return classifyError(row, made);
  const { truth } = row;
  if (truth.of === 'list') return classifyList(truth, made as ServerList);
  if (truth.of === 'catalog') return classifyCatalog(truth, made as Catalog);
  if (row.call === 'delete') return classifyDeleted(truth, made === true);
  const done = made as Done;
  // That it was taken is no claim that it was done, unless the answer was a refusal.
  if (done.id === undefined && done.state === undefined)
    return truth.of === 'refused' ? 'misread' : 'accepted';
  return truth.of === 'done' ? classifyDone(truth, done) : 'misread';
}

const SAYS_NOTHING = new Set<HostingError['code']>(['unreadable_answer', 'unknown_code']);

function classifyError({ truth, call, status = 200 }: Row, error: HostingError): Kind | 'misread' {
  const isPaid = call === 'create' || call === 'renew';
  if (error.details.status !== status) return 'misread';
  if (SAYS_NOTHING.has(error.code)) {
    if (isPaid !== (error.moneyMoved === 'maybe')) return 'misread';
    const isLost =
      truth.of === 'done' && truth.password !== undefined && !holds(error.sealedAnswer, truth.password);
    return isLost ? 'misread' : 'told';
  }
  if (error.moneyMoved === 'maybe')
    return error.code === 'checking' && isCode(truth, 'checking') ? 'refused' : 'misread';
  return isCode(truth, error.code) ? 'refused' : 'misread';
}

function isCode(truth: Truth, code: HostingError['code']): boolean {
  return truth.of === 'refused' && truth.code === code;
}

type Seen = Pick<Server, 'id'> & Partial<Server>;

/** Whether everything that is reported about a server is true; missing values are fine. */
function isTrue(seen: Seen, server: TrueServer): boolean {
  const isSame = (said: unknown, is: unknown) => said === undefined || said === '' || said === is;
  return (
    String(seen.id) === server.id &&
    isSame(seen.label, server.label) &&
    isSame(seen.state?.toLowerCase(), server.state) &&
    isSame(seen.ipv4, server.ipv4) &&
    isSame(seen.paidUntil, server.paidUntil)
  );
}

function isWhole(seen: Seen, server: TrueServer): boolean {
  return (['label', 'state', 'ipv4', 'paidUntil'] as const).every(
    (name) => server[name] === undefined || (seen[name] !== undefined && seen[name] !== ''),
  );
}

function classifyList(truth: Extract<Truth, { of: 'list' }>, list: ServerList): Kind | 'misread' {
  const matches = list.servers.map((seen) => truth.servers.find((server) => isTrue(seen, server)));
  if (matches.includes(undefined) || new Set(matches).size !== matches.length) return 'misread';
  if (list.extent === 'whole' && matches.length !== truth.servers.length) return 'misread';
  const areWhole = list.servers.every((seen, index) => {
    const server = matches[index];
    return server !== undefined && isWhole(seen, server);
  });
  return list.extent === 'whole' && areWhole ? 'understood' : 'told';
}

function classifyCatalog(truth: Extract<Truth, { of: 'catalog' }>, catalog: Catalog): Kind | 'misread' {
  const isLie =
    catalog.plans.some(({ code, monthly }) => truth.plans[code] !== monthly) ||
    catalog.locations.some((code) => !truth.locations.includes(code)) ||
    catalog.images.some((code) => !truth.images.includes(code));
  const isMissing =
    Object.keys(truth.plans).length > catalog.plans.length ||
    truth.locations.length > catalog.locations.length ||
    truth.images.length > catalog.images.length;
  if (isLie || (isMissing && !catalog.isPart)) return 'misread';
  return catalog.isPart ? 'told' : 'understood';
}

/** Without an ID for a power action: the client takes it for its own. */
type Done = Partial<Seen> & { rootPassword?: Secret<string> };

function classifyDone({ server, password }: Extract<Truth, { of: 'done' }>, made: Done): Kind | 'misread' {
  if (!isTrue({ id: ID, ...made }, server) || made.rootPassword?.reveal() !== password) return 'misread';
  return 'understood';
}

/** What doesn't prove a deletion is looked up in the list before anything is told. */
function classifyDeleted(truth: Truth, isProven: boolean): Kind | 'misread' {
  if (!isProven) return truth.of === 'refused' ? 'misread' : 'told';
  return truth.of === 'done' && truth.server.state === 'deleted' ? 'understood' : 'misread';
}

/** Whether a reader can find the password in the answer. */
function holds(answer: Secret<string> | undefined, password: string): boolean {
  return answer?.reveal().includes(JSON.stringify(password).slice(1, -1)) === true;
}
