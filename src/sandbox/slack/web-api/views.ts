import { textIn } from '../json.ts';
import type { Json } from '../page-api.ts';
import { WebApiError } from '../refusal.ts';
import { describeView, type StoredView } from '../views.ts';
import type { World } from '../world.ts';
import { getViewContent, required, type WebMethods } from './method.ts';

export const viewMethods: WebMethods = {
  'views.open': {
    scopes: [],
    run: (world, args) => {
      const content = getViewContent(world, 'views.open', args, 'modal');
      return answer(world.views.open(useTrigger(world, args), content));
    },
  },
  'views.update': {
    scopes: [],
    run: (world, args) => {
      const view = world.views.find(textIn(args, 'view_id'));
      const content = getViewContent(world, 'views.update', args, view?.type ?? 'modal');
      if (!view) throw new WebApiError('not_found');
      checkHash(view, args);
      return answer(world.views.update(view, content));
    },
  },
  'views.publish': {
    scopes: [],
    run: (world, args) => {
      checkHomeTab(world);
      const user = world.roster.findUser(required(args, 'user_id'));
      if (!user || user.isBot || user.isDeactivated)
        throw new WebApiError('invalid_arguments', {
          response_metadata: { messages: ['invalid `user_id`'] },
        });
      // A Home shows servers and requests of one workspace.
      const outsider = `views.publish: ${user.name} belongs to another organization`;
      if (user.isExternal) world.journal.breakRule('told_outsiders', outsider);
      const content = getViewContent(world, 'views.publish', args, 'home');
      const home = world.views.homeOf(user.id);
      if (home) checkHash(home, args);
      return answer(world.views.publish(user.id, content));
    },
  },
};

const answer = (view: StoredView): Json => ({ view: describeView(view) });

/** An app whose manifest has no Home tab can't publish one. @throws WebApiError not_enabled */
function checkHomeTab(world: World): void {
  if (world.app.hasHomeTab) return;
  world.journal.breakRule('home_tab', 'an app without a Home tab');
  throw new WebApiError('not_enabled');
}

function checkHash(view: StoredView, args: Json): void {
  const hash = textIn(args, 'hash');
  if (hash !== '' && hash !== view.hash) throw new WebApiError('hash_conflict');
}

/** An unknown, used or late trigger is a broken rule: a modal must be opened first of all. */
function useTrigger(world: World, args: Json): string {
  try {
    return world.triggers.use(required(args, 'trigger_id'));
  } catch (error) {
    if (error instanceof WebApiError && error.code.endsWith('trigger_id'))
      world.journal.breakRule(error.code.replace(/_id$/, ''), `views.open: ${error.code}`);
    throw error;
  }
}
