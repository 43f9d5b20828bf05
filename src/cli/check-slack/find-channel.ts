import { z } from 'zod';
import type { Answer } from './answers.ts';
import type { Checkup } from './checkup.ts';
import type { ChannelName } from './options.ts';
import { type Granted, mayUse } from './scopes.ts';

const named = z.object({ id: z.string(), name: z.string().catch('') });
const list = z.object({
  channels: z.array(named),
  response_metadata: z
    .object({ next_cursor: z.string().catch('') })
    .optional()
    .catch(undefined),
});

/** Channels a page; Slack advises fewer than 1000. */
const PAGE = 999;
const MOST_PAGES = 200;

/** The ID of the channel; undefined if none that the app can see has this name, or what Slack answered instead. */
export async function findChannelId(
  checkup: Checkup,
  wanted: ChannelName,
): Promise<string | undefined | Exclude<Answer, { kind: 'accepted' }>> {
  if (wanted.by === 'id') return wanted.text;
  const types = visibleTypes(checkup.granted);
  let cursor = '';
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const args = { types, limit: PAGE, ...(cursor === '' ? undefined : { cursor }) };
    const answer = await checkup.api.call('conversations.list', args);
    if (answer.kind !== 'accepted') return answer;
    const page = list.safeParse(answer.body).data;
    const found = page?.channels.find(({ name }) => name === wanted.text);
    cursor = page?.response_metadata?.next_cursor ?? '';
    if (found || cursor === '') return found?.id;
  }
  return undefined;
}

/** Slack refuses the list if a scope for one of its types is missing. */
function visibleTypes(granted: Granted): string {
  const types = [
    ...(mayUse(granted, 'channels:read') ? ['public_channel'] : []),
    ...(mayUse(granted, 'groups:read') ? ['private_channel'] : []),
  ];
  return types.join(',');
}
