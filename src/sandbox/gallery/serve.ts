import { isSameOrigin, sendJson, sendText } from '../slack/http.ts';
import type { PageUser } from '../slack/page-api.ts';
import type { Pages } from '../slack/server.ts';
import { ALL_USERS, APP, USERGROUPS, USERS } from '../slack/workspace.ts';
import type { GalleryState } from './gallery-api.ts';
import { arrange, makePieces } from './pieces.ts';

/** The fixtures have user IDs of their own. */
const FIXTURE_USERS: readonly PageUser[] = [
  { ...USERS.olga, id: 'U0OWNER0001' },
  { ...USERS.mara, id: 'U0MANAGER01' },
  { ...USERS.otto, id: 'U0PERSON1000' },
  { ...USERS.nora, id: 'U0PERSON1001' },
  { ...USERS.vera, id: 'U0PERSON1002' },
  { ...USERS.gus, id: 'U0ADMIN0001', name: 'ada', realName: 'Ada Admin', isRestricted: false },
];

/** The gallery's content, made once, when it is first opened: the sandbox starts faster without the fixtures. */
let made: Promise<GalleryState> | undefined;

async function makeGallery(): Promise<GalleryState> {
  const { surfaces } = await import('./fixtures/surfaces.ts');
  return {
    workspace: {
      team: { name: 'Gallery' },
      app: APP,
      as: USERS.olga,
      people: [...ALL_USERS, ...FIXTURE_USERS],
      groups: USERGROUPS,
      channels: [{ id: 'C0OPS00001', name: 'ops', kind: 'public', hasApp: true, members: [], messages: [] }],
      commands: [],
      shortcuts: [],
      views: [],
      home: null,
      traffic: [],
      brokenRules: [],
    },
    pieces: arrange(makePieces(surfaces)),
  };
}

/** Puts `GET /gallery.json` in front of the files of the page, which has `/gallery` itself. */
export function withGallery(pages: Pages): Pages {
  return async (incoming, outgoing) => {
    const [path = ''] = (incoming.url ?? '').split('?');
    if (path !== '/gallery.json') return pages(incoming, outgoing);
    if (!isSameOrigin(incoming)) return sendText(outgoing, 403, 'only from this machine');
    if (incoming.method !== 'GET') return sendText(outgoing, 405, 'read only');
    made ??= makeGallery();
    return sendJson(outgoing, 200, await made);
  };
}
