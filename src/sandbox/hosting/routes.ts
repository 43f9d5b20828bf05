/** What a request asks for; one per endpoint (docs/hosting-api.md 4). */
export const OPERATIONS = [
  'catalog',
  'servers',
  'create',
  'start',
  'stop',
  'reboot',
  'renew',
  'delete',
] as const;

export type Operation = (typeof OPERATIONS)[number];

/** An endpoint that a request fits, with the server id as it was written. */
export interface Route {
  readonly operation: Operation;
  readonly id: string;
}

const ROUTES: readonly { method: string; path: RegExp; operation: Operation }[] = [
  { method: 'GET', path: /^\/catalog$/, operation: 'catalog' },
  { method: 'GET', path: /^\/servers$/, operation: 'servers' },
  { method: 'POST', path: /^\/servers$/, operation: 'create' },
  { method: 'POST', path: /^\/servers\/([^/]+)\/start$/, operation: 'start' },
  { method: 'POST', path: /^\/servers\/([^/]+)\/stop$/, operation: 'stop' },
  { method: 'POST', path: /^\/servers\/([^/]+)\/reboot$/, operation: 'reboot' },
  { method: 'POST', path: /^\/servers\/([^/]+)\/renew$/, operation: 'renew' },
  { method: 'DELETE', path: /^\/servers\/([^/]+)$/, operation: 'delete' },
];

/** The endpoint for a method and a path below the base address, if there is one. */
export function findRoute(method: string, path: string): Route | undefined {
  for (const route of ROUTES) {
    if (route.method !== method) continue;
    const match = route.path.exec(path);
    if (match) return { operation: route.operation, id: match[1] ?? '' };
  }
  return undefined;
}
