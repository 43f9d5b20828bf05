import type { GalleryState } from '../../../gallery/gallery-api.ts';
import type { PageState } from '../../../slack/page-api.ts';

/** A workspace with only users and groups, so that mentions in messages have names. */
export function workspaceOf({ people: all, groups }: Omit<GalleryState, 'pieces'>): PageState | null {
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
    channels: [],
    views: [],
    home: null,
    traffic: [],
    laws: [],
  };
}
