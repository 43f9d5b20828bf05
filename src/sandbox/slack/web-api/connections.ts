import { WebApiError } from '../refusal.ts';
import type { WebMethods } from './method.ts';

/** What takes an app-level token instead of the bot's. */
export const connectionMethods: WebMethods = {
  'apps.connections.open': {
    // Its scope belongs to the app-level token, which has scopes of its own.
    scopes: [],
    run: (world) => {
      const provided = world.app.appTokenScopes;
      if (!provided.includes('connections:write'))
        throw new WebApiError('missing_scope', { needed: 'connections:write', provided: provided.join(',') });
      return { url: `${world.origin().replace(/^http/, 'ws')}${world.sockets.createPath()}` };
    },
  },
};
