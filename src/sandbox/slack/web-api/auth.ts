import { APP } from '../workspace.ts';
import type { WebMethods } from './method.ts';

export const authMethods: WebMethods = {
  'auth.test': {
    scopes: [],
    run: (world) => ({
      url: `${world.origin()}/`,
      team: world.team.name,
      user: APP.name,
      team_id: world.team.id,
      user_id: APP.botUserId,
      bot_id: APP.botId,
      ...(world.grid ? { enterprise_id: world.grid.id } : {}),
      is_enterprise_install: world.grid?.isOrgInstall ?? false,
    }),
  },
  'api.test': { scopes: [], run: (_world, { token: _token, ...args }) => ({ args }) },
  'team.info': {
    scopes: ['team:read'],
    run: (world) => ({ team: { ...world.team, email_domain: '', icon: {} } }),
  },
};
