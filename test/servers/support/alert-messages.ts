/**
 * Messages of alert tools as Slack hands them to apps, without what no app reads, made after what each tool publishes:
 * Alertmanager's default template, Grafana's Slack receiver, and what users of the other tools have posted of theirs.
 */
export const ALERTS = {
  alertmanager: {
    attachments: [
      {
        fallback:
          '[FIRING:1] DiskFull (10.0.0.5:9100 node critical) | <http://alertmanager:9093/#/alerts?receiver=ops>',
        title: '[FIRING:1] DiskFull (10.0.0.5:9100 node critical)',
        title_link: 'http://alertmanager:9093/#/alerts?receiver=ops',
      },
    ],
  },
  grafana: {
    attachments: [
      {
        title: '[FIRING:1] HighCPU',
        title_link: 'https://monitor.example.com/alerting/list',
        fallback: '[FIRING:1] HighCPU',
        text: '**Firing**\n\nValue: A=97.2\nLabels:\n - alertname = HighCPU\n - instance = web-1:9100\nAnnotations:\n - summary = CPU &gt; 95%\nSource: <https://monitor.example.com/alerting/grafana/abc/view?orgId=1>\nSilence: <https://monitor.example.com/alerting/silence/new?matcher=instance%3Dweb-1%3A9100>',
        footer: 'Grafana v11.2.0',
      },
    ],
  },
  pagerduty: {
    attachments: [
      {
        title: '#12 web-1 down',
        title_link: 'https://example.pagerduty.com/incidents/PABC123',
        fallback: '#12 web-1 down',
        fields: [
          { title: 'Assigned', value: 'Otto', short: true },
          { title: 'Service', value: 'Shop', short: true },
        ],
        blocks: [
          {
            type: 'actions',
            elements: [
              { type: 'button', text: { type: 'plain_text', text: 'Acknowledge' }, value: 'PABC123' },
            ],
          },
        ],
      },
    ],
  },
  opsgenie: {
    attachments: [
      {
        fallback: 'New alert: #42 Host not reachable [P1] web-1',
        title: '#42: Host not reachable',
        title_link: 'https://opsg.in/a/i/example/42',
        fields: [
          { title: 'Priority', value: 'P1', short: true },
          { title: 'Tags', value: 'ping', short: true },
          { title: 'Entity', value: 'web-1.example.com', short: true },
        ],
      },
    ],
  },
  datadog: {
    attachments: [
      {
        title: 'Triggered: Disk is 42% full on host:web-1',
        title_link: 'https://app.datadoghq.com/monitors/42?group=host%3Aweb-1',
        fallback: 'Triggered: Disk is 42% full on host:web-1',
        text: 'More than *40%* was used during the last _5m_.\n\n@slack-ops',
        fields: [{ title: 'Notified', value: '@slack-ops', short: true }],
      },
    ],
  },
} as const;

/** The same in blocks, as newer apps post. */
export const BLOCKS_ALERT = {
  text: 'An alert is firing',
  blocks: [
    { type: 'header', text: { type: 'plain_text', text: 'Disk full' } },
    {
      type: 'section',
      text: { type: 'mrkdwn', text: '*Check* <https://monitor.example.com/d/1|open>' },
      fields: [{ type: 'mrkdwn', text: '*Host*\nweb-10' }],
    },
    {
      type: 'rich_text',
      elements: [
        {
          type: 'rich_text_list',
          style: 'bullet',
          elements: [
            {
              type: 'rich_text_section',
              elements: [
                { type: 'text', text: 'also web' },
                { type: 'text', text: '-1', style: { bold: true } },
                { type: 'emoji', name: 'fire' },
                { type: 'user', user_id: 'U0OPERATOR' },
                { type: 'link', url: 'http://10.0.0.7:9100', text: '10.0.0.7:9100' },
              ],
            },
          ],
        },
      ],
    },
  ],
} as const;
