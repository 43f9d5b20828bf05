// A workspace that types many commands at once. It is a process of its own, so that only the app is slowed down by it.
import { z } from 'zod';
import { openPool, openReplyBox, type } from './workspaces-setting.ts';

const { url, who, commands, connections } = z
  .object({
    url: z.string(),
    who: z.object({ workspaceId: z.string(), userId: z.string() }),
    commands: z.number(),
    connections: z.number(),
  })
  .parse(JSON.parse(process.argv[2] ?? ''));

await using replies = await openReplyBox();
await using crowd = openPool(url, connections);
const startedAt = performance.now();
const typing = Array.from({ length: commands }, () => type(crowd.pool, who, replies));
const latenciesMs = await Promise.all(typing);
process.send?.({ latenciesMs, tookMs: performance.now() - startedAt });
process.disconnect();
