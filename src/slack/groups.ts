import { z } from 'zod';
import type { Groups, UserGroup } from '../app/access-ports.ts';
import type { System } from '../system.ts';
import { keepAnswers } from './kept-answers.ts';
import type { SlackApi } from './slack-api.ts';

const slackGroups = z.array(
  z.object({
    id: z.string(),
    handle: z.string(),
    name: z.string().default(''),
    /** Epoch seconds; 0 for one that is not switched off. */
    date_delete: z.number().default(0),
  }),
);

const slackMembers = z.array(z.string());

/** Asks Slack for user groups and who is in them (scope `usergroups:read`), and keeps the answers for a while. */
export function createGroups(slack: SlackApi, system: System): Groups {
  const list = keepAnswers(() => lookUpGroups(slack), system);
  const listMembers = keepAnswers((key) => lookUpMembers(key.split(' ')[1] ?? '', slack), system);
  return {
    list: (workspaceId) => list(workspaceId),
    listMembers: (workspaceId, groupId) => listMembers(`${workspaceId} ${groupId}`),
  };
}

async function lookUpGroups(slack: SlackApi): Promise<readonly UserGroup[] | undefined> {
  const answer = await slack.listGroups();
  const groups = answer.ok ? slackGroups.safeParse(answer.groups).data : undefined;
  return groups?.map(({ id, handle, name, date_delete }) => ({
    id,
    handle,
    name,
    isDisabled: date_delete !== 0,
  }));
}

async function lookUpMembers(groupId: string, slack: SlackApi): Promise<readonly string[] | undefined> {
  const answer = await slack.listGroupMembers(groupId);
  return answer.ok ? slackMembers.safeParse(answer.userIds).data : undefined;
}
