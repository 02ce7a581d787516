// The site of website/docs. Pages are found in their folders, so that a new one needs no entry anywhere.
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { figures } from './figures.js'

const docs = fileURLToPath(new URL('../docs', import.meta.url))
const front = fs.readFileSync(path.join(docs, 'index.md'), 'utf8')

// What the front page links comes first, in the order it has there; the rest by its name.
const rank = place => (front.indexOf(`](${place}`) + 1) || Infinity
const inOrder = places => places.sort((a, b) => Math.sign(rank(a) - rank(b)) || a.localeCompare(b))

const titleOf = page => fs.readFileSync(path.join(docs, page), 'utf8').match(/^# (.+)$/m)[1]
const item = page => ({ text: titleOf(page), link: `/${page.replace(/\.md$/, '')}` })
const pagesIn = folder => fs.readdirSync(path.join(docs, folder)).filter(name => name.endsWith('.md')).map(name => path.posix.join(folder, name))

function sidebar() {
  const groups = fs.readdirSync(docs).filter(name => fs.statSync(path.join(docs, name)).isDirectory() && pagesIn(name).length > 0)
  const folders = inOrder(groups.map(name => `${name}/`)).map(folder => ({
    text: folder[0].toUpperCase() + folder.slice(1, -1),
    collapsed: false,
    items: inOrder(pagesIn(folder)).map(item),
  }))
  return [...folders, ...pagesIn('').filter(page => page !== 'index.md').map(item)]
}

// A link to the source, which is not here, is its text, and names its file to whoever points at it.
function withoutLinksOut(md) {
  md.core.ruler.push('links-out', state => {
    for (const { children } of state.tokens.filter(token => token.type === 'inline')) {
      let isOut = false
      for (const token of children) {
        if (token.type === 'link_open') {
          const href = token.attrGet('href')
          const target = path.relative(docs, path.resolve(path.dirname(state.env.path), decodeURI(href)))
          isOut = !/^([a-z]+:|#|\/)/.test(href) && target.startsWith('..')
          if (isOut) Object.assign(token, { type: 'span_open', tag: 'span', attrs: [['title', `${target.replace(/^(\.\.\/)+/, '')} in the source`]] })
        } else if (token.type === 'link_close' && isOut) {
          Object.assign(token, { type: 'span_close', tag: 'span' })
        }
      }
    }
  })
}

// Headings are linked as the source's viewers name them: lower case, dashes for blanks, nothing else but letters, digits and dashes.
const slugify = heading => heading.trim().toLowerCase().replace(/[^\p{L}\p{M}\p{N}_ -]/gu, '').replaceAll(' ', '-')

export default {
  title: 'Garnet',
  description: 'A server for the Redis protocol in .NET',
  lang: 'en',
  srcDir: 'docs',
  outDir: '../artifacts/site',
  cacheDir: '../artifacts/site-cache',
  // No icon: browsers would ask for one that is not there.
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: {
    anchor: { slugify },
    config: md => { withoutLinksOut(md); figures(md) },
  },
  themeConfig: {
    search: { provider: 'local' },
    sidebar: sidebar(),
    outline: 'deep',
  },
}
