import type { GalleryState } from '../../../gallery/gallery-api.ts';
import type { PageState } from '../../../slack/page-api.ts';

/** A workspace without messages, so that mentions have names. */
export function workspaceOf({
  people: all,
  groups,
  channels,
}: Omit<GalleryState, 'pieces'>): PageState | null {
  const [as] = all;
  const app = all.find(({ isBot }) => isBot);
  if (!as || !app) return null;
  return {
    team: { id: as.teamId, name: 'Gallery', domain: 'gallery' },
    app: { id: app.id, name: app.name, botUserId: app.id },
    as,
    people: all,
    groups,
    commands: [],
    shortcuts: [],
    channels: channels.map((channel) => ({
      ...channel,
      kind: 'public',
      hasApp: true,
      members: [],
      readUpTo: '',
      messages: [],
    })),
    views: [],
    home: null,
    traffic: [],
    brokenRules: [],
  };
}
