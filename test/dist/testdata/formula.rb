# Evaluates a Homebrew formula without Homebrew:
#
#   ruby formula.rb FORMULA OS ARCH           prints what it would download, as JSON
#   ruby formula.rb FORMULA OS ARCH PREFIX    installs from the current directory, the unpacked archive, and runs the formula's test
#
# The methods and directories are those of Homebrew's Formula Cookbook. A method that is not defined here is an error.
require "fileutils"
require "json"
require "open3"
require "pathname"

FORMULA, OS, ARCH, PREFIX = ARGV

class Pathname
  # Installs files, or a file under another name (install "a" => "b").
  def install(*sources)
    mkpath
    sources.flatten.each do |source|
      source, name = source.is_a?(Hash) ? source.first : [source, File.basename(source)]
      FileUtils.cp(source, self + name, preserve: true)
    end
  end
end

class Formula
  class << self
    attr_reader :fields, :test_block

    def inherited(subclass)
      super
      subclass.instance_variable_set(:@fields, {})
      Formula.instance_variable_set(:@last, subclass)
    end

    attr_reader :last

    %i[desc homepage version license url sha256].each do |field|
      define_method(field) { |value| @fields[field] = value }
    end

    def on_macos = (yield if OS == "darwin")
    def on_linux = (yield if OS == "linux")
    def on_arm = (yield if ARCH == "arm64")
    def on_intel = (yield if ARCH == "amd64")
    def test(&block) = @test_block = block
  end

  def prefix = Pathname.new(PREFIX)
  def bin = prefix + "bin"
  def man1 = prefix + "share/man/man1"
  def bash_completion = prefix + "etc/bash_completion.d"
  def zsh_completion = prefix + "share/zsh/site-functions"
  def fish_completion = prefix + "share/fish/vendor_completions.d"
  def version = self.class.fields[:version]

  def shell_output(command)
    output, status = Open3.capture2(command)
    raise "#{command}: #{status}" unless status.success?

    output
  end

  def assert_match(expected, actual)
    raise "#{actual.inspect} does not contain #{expected.inspect}" unless actual.include?(expected)
  end
end

load FORMULA
formula = Formula.last
if PREFIX
  installed = formula.new
  installed.install
  installed.instance_eval(&formula.test_block)
else
  puts JSON.generate(formula.fields)
end
