//! Tests of the HTML of documents.

use insta::assert_snapshot;

use super::*;

fn html(source: &'static str) -> String {
    body(&Document { path: "reference/settings.md", source }, Some("https://up.example")).html
}

#[test]
fn headings_get_anchors_and_subheadings_get_links() {
    assert_snapshot!(html("# A & b\n\n## `GET` *x* > y\n"), @r##"
    <h1 id="a--b">A &amp; b</h1>
    <h2 id="get-x--y"><code>GET</code> <em>x</em> &gt; y <a class="to" href="#get-x--y" aria-label="Link to this section">#</a></h2>
    "##);
}

#[test]
fn links_resolve_or_become_plain_text() {
    assert_snapshot!(html("[a](webhook.md#signature), [b](../decisions/0001-one-binary.md), [c](https://example.com/?a&b)"), @r#"<p><a href="/docs/reference/webhook#signature">a</a>, b, <a href="https://example.com/?a&amp;b" rel="noopener">c</a></p>"#);
}

#[test]
fn tables_scroll_and_have_no_empty_heads() {
    assert_snapshot!(html("| a | |\n|---|---|\n| `x` | y |\n\n| | |\n|---|---|\n| 1 | 2 |\n"), @r#"
    <div class="scroll" tabindex="0"><table>
    <thead><tr><th scope="col">a</th><td></td></tr></thead>
    <tbody>
    <tr><td><code>x</code></td><td>y</td></tr>
    </tbody></table></div>
    <div class="scroll" tabindex="0"><table>
    <tbody>
    <tr><td>1</td><td>2</td></tr>
    </tbody></table></div>
    "#);
}

#[test]
fn examples_call_public_url_except_operator_commands() {
    assert_snapshot!(html("```sh\ncurl http://127.0.0.1:8080/v1/whoami\n```\n\n1. x\n   ```nginx\n   proxy_pass http://127.0.0.1:8080;\n   ```\n\n```sh local\ncurl http://127.0.0.1:8080/metrics\n```\n"), @r#"
    <div class="code"><p class="lang">Shell</p><pre tabindex="0"><code>curl https://up.example/v1/whoami</code></pre></div>
    <ol>
    <li>x<div class="code"><p class="lang">nginx</p><pre tabindex="0"><code>proxy_pass http://127.0.0.1:8080;</code></pre></div>
    </li>
    </ol>
    <div class="code"><p class="lang">Shell</p><pre tabindex="0"><code>curl http://127.0.0.1:8080/metrics</code></pre></div>
    "#);
}

#[test]
fn alternative_examples_become_tabs() {
    assert_snapshot!(html("### curl\n```sh\na\n```\n**Terraform**: [x](webhook.md)\n```hcl\nb\n```\n"), @r#"
    <div class="tabs" role="radiogroup" aria-label="Language of the example"><input type="radio" name="t1" id="t1-0" value="curl" checked><label for="t1-0">curl</label><input type="radio" name="t1" id="t1-1" value="Terraform"><label for="t1-1">Terraform</label><div class="code" id="curl"><p class="lang">Shell</p><pre tabindex="0"><code>a</code></pre></div>
    <div class="code"><p class="beside-name"><a href="/docs/reference/webhook">x</a></p><p class="lang">Terraform</p><pre tabindex="0"><code>b</code></pre></div>
    </div>
    "#);
}

#[test]
fn html_is_kept_and_comments_are_removed() {
    assert_snapshot!(html("<!-- generated\n\nby us -->\n\n<a id=\"here\"></a>\n### x\n\n> [!NOTE]\n> Mind this.\n"), @r##"
    <p><a id="here"></a></p>
    <h3 id="x">x <a class="to" href="#x" aria-label="Link to this section">#</a></h3>
    <blockquote class="note">
    <p class="kind">Note</p>
    <p>Mind this.</p>
    </blockquote>
    "##);
}
