import { grantAccess, listAccess, revokeAccess } from '../../app/change-access.ts';
import { ROLES, type Role } from '../../domain/actor.ts';
import { findNearest } from '../../domain/nearest.ts';
import { defineCommand } from '../command.ts';
import { say } from '../kit/blocks.ts';
import { mention } from '../kit/text.ts';
import { findChannelId, findGroupId, findUserId } from '../kit/typed-words.ts';
import { accessMessage } from '../messages/access-list.ts';

type Wish =
  | { readonly act: 'list' }
  | { readonly act: 'grant'; readonly userId: string; readonly role: Role }
  | { readonly act: 'revoke'; readonly userId: string };

export const access = defineCommand({
  name: 'access',
  usage: 'access [grant @user <role> | revoke @user | list]',
  summary: 'Shows and changes who has which role',
  needs: 'owner',
  parse: ({ words }) => parseWish(words),
  run: async (wish, request) => {
    if (wish.act === 'list') {
      await request.reply.tell(accessMessage(await request.enter(listAccess, {})));
      return;
    }
    if (wish.act === 'grant') {
      await request.enter(grantAccess, wish);
      await request.reply.tell(say(`${mention(wish.userId)} is *${wish.role}* now.`));
      return;
    }
    const wasThere = await request.enter(revokeAccess, { userId: wish.userId });
    const words = wasThere
      ? `${mention(wish.userId)} has no role by grant any more.`
      : `${mention(wish.userId)} had no role by grant. Owners named in \`OWNERS\` and Slack’s workspace admins stay owners.`;
    await request.reply.tell(say(words));
  },
});

function parseWish([act = 'list', who = '', role = '']: readonly string[]): Wish | string {
  if (act === 'list') return { act: 'list' };
  if (act !== 'grant' && act !== 'revoke') return `There is no “access ${act}”.`;
  const userId = findUserId(who);
  if (userId === undefined) return explainWho(who);
  if (act === 'revoke') return { act, userId };
  const wanted = ROLES.find((known) => known === role.toLowerCase());
  if (wanted) return { act, userId, role: wanted };
  const nearest = findNearest(role, ROLES);
  return `${role === '' ? 'Name a role' : `There is no role “${role}”`}: ${ROLES.join(', ')}.${nearest ? ` Did you mean ${nearest}?` : ''}`;
}

function explainWho(who: string): string {
  if (findChannelId(who) || findGroupId(who))
    return 'Roles are given to persons; channels and groups are not supported yet.';
  return 'Name a person by @mention, so that Slack hands over their id.';
}
