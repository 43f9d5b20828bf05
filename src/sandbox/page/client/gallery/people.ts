import type { PagePerson, PageState } from '../../../slack/page-api.ts';

/** A workspace of nothing but people, so that mentions in messages have names. */
export function people(all: readonly PagePerson[]): PageState | null {
  const [as] = all;
  const app = all.find(({ isBot }) => isBot);
  if (!as || !app) return null;
  return {
    team: { id: as.teamId, name: 'Gallery', domain: 'gallery' },
    app: { id: app.id, name: app.name, botUserId: app.id },
    as,
    people: all,
    commands: [],
    shortcuts: [],
    channels: [],
    views: [],
    home: null,
    traffic: [],
    laws: [],
  };
}
